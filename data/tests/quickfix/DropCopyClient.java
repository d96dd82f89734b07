import java.io.FileOutputStream;
import java.nio.charset.StandardCharsets;
import quickfix.*;
import quickfix.field.*;

/**
 * A FIX 4.4 client of QuickFIX/J that appends a line to a file for each message that it receives.
 *
 * <p>The dictionary is QuickFIX/J's own, and validates every message. Arguments: port, folder of
 * the store, file, own CompID, heartbeat interval in seconds, ResetOnLogon. The client runs until
 * its process is ended.
 */
public final class DropCopyClient implements Application {
    private final FileOutputStream out;

    private DropCopyClient(FileOutputStream out) {
        this.out = out;
    }

    public static void main(String[] args) throws Exception {
        SessionID id = new SessionID("FIX.4.4", args[3], "HAIRPIN");
        SessionSettings settings = new SessionSettings();
        settings.setString("ConnectionType", "initiator");
        settings.setString("SocketConnectHost", "127.0.0.1");
        settings.setString("SocketConnectPort", args[0]);
        settings.setString("FileStorePath", args[1]);
        settings.setString("ReconnectInterval", "1");
        settings.setString("NonStopSession", "Y");
        settings.setString("HeartBtInt", args[4]);
        settings.setString("ResetOnLogon", args[5]);
        settings.setString("BeginString", "FIX.4.4");
        settings.setString(id, "SenderCompID", args[3]);
        settings.setString(id, "TargetCompID", "HAIRPIN");
        DropCopyClient client = new DropCopyClient(new FileOutputStream(args[2], true));
        new SocketInitiator(
                        client,
                        new FileStoreFactory(settings),
                        settings,
                        new DefaultMessageFactory())
                .start();
        Thread.sleep(Long.MAX_VALUE);
    }

    private synchronized void line(String kind, Message message) {
        try {
            String text = kind + " " + message.toString().replace('\001', '|') + "\n";
            out.write(text.getBytes(StandardCharsets.US_ASCII));
        } catch (Exception error) {
            error.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    @Override
    public void fromApp(Message message, SessionID id) {
        line("report", message);
    }

    @Override
    public void fromAdmin(Message message, SessionID id) {
        line("in", message);
    }

    @Override
    public void toAdmin(Message message, SessionID id) {
        line("out", message);
    }

    @Override
    public void toApp(Message message, SessionID id) {}

    @Override
    public void onCreate(SessionID id) {}

    @Override
    public void onLogon(SessionID id) {}

    @Override
    public void onLogout(SessionID id) {}
}
