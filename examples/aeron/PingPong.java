// A request and its answer over Aeron (https://aeron.io), for `docs/guide/aeron.md`.
//
// The media driver runs in the thread of the client, so that each host has one busy thread.

import io.aeron.Aeron;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.aeron.logbuffer.FragmentHandler;
import java.util.Arrays;
import org.agrona.concurrent.AgentInvoker;
import org.agrona.concurrent.UnsafeBuffer;

/** Usage: {@code PingPong pong|ping PONG-ADDRESS PING-ADDRESS [COUNT]}. */
public final class PingPong {
    private static final int STREAM = 1;
    private static final int PING_PORT = 20123;
    private static final int PONG_PORT = 20124;
    /** Bytes of a message. */
    private static final int LENGTH = 64;

    private static volatile boolean isStopped;

    private final Runnable work;
    private final Publication out;
    private final Subscription in;
    private final UnsafeBuffer message = new UnsafeBuffer(new byte[LENGTH]);
    private long answered;

    private PingPong(Runnable work, Publication out, Subscription in) {
        this.work = work;
        this.out = out;
        this.in = in;
    }

    public static void main(String[] arguments) {
        boolean isPing = arguments[0].equals("ping");
        String requests = "aeron:udp?endpoint=" + arguments[1] + ":" + PING_PORT;
        String answers = "aeron:udp?endpoint=" + arguments[2] + ":" + PONG_PORT;
        int count = arguments.length > 3 ? Integer.parseInt(arguments[3]) : 200_000;
        Thread main = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(main)));
        MediaDriver.Context settings = new MediaDriver.Context()
            .aeronDirectoryName("/dev/shm/aeron-" + arguments[0] + "-" + ProcessHandle.current().pid())
            .threadingMode(ThreadingMode.INVOKER)
            .dirDeleteOnShutdown(true);
        try (MediaDriver driver = MediaDriver.launch(settings);
             Aeron aeron = Aeron.connect(new Aeron.Context()
                 .aeronDirectoryName(driver.aeronDirectoryName())
                 .useConductorAgentInvoker(true)
                 .driverAgentInvoker(driver.sharedAgentInvoker()))) {
            AgentInvoker network = driver.sharedAgentInvoker();
            AgentInvoker client = aeron.conductorAgentInvoker();
            Runnable work = () -> {
                network.invoke();
                client.invoke();
            };
            PingPong program = new PingPong(
                work,
                aeron.addPublication(isPing ? requests : answers, STREAM),
                aeron.addSubscription(isPing ? answers : requests, STREAM));
            if (isPing) {
                program.ping(count);
            } else {
                program.pong();
            }
        }
    }

    private static void stop(Thread main) {
        isStopped = true;
        try {
            main.join(5_000);
        } catch (InterruptedException ignored) {
            Thread.currentThread().interrupt();
        }
    }

    /** Sends the message as soon as the publication accepts it. */
    private void send() {
        while (!isStopped && out.offer(message) < 0) {
            work.run();
        }
    }

    /** Prints the round-trip times of all messages except the first quarter, which warms up. */
    private void ping(int count) {
        FragmentHandler answer = (buffer, offset, length, header) -> answered = buffer.getLong(offset) + 1;
        while (!isStopped && !(out.isConnected() && in.isConnected())) {
            work.run();
        }
        long[] times = new long[count];
        for (int number = 0; number < count && !isStopped; number++) {
            long start = System.nanoTime();
            message.putLong(0, number);
            send();
            while (answered != number + 1 && !isStopped) {
                work.run();
                in.poll(answer, 1);
            }
            times[number] = System.nanoTime() - start;
        }
        if (isStopped) {
            return;
        }
        long[] sorted = Arrays.copyOfRange(times, count / 4, count);
        Arrays.sort(sorted);
        System.out.printf(
            "%d answered, p50 %.1f p99 %.1f us%n",
            answered, sorted[sorted.length / 2] / 1e3, sorted[sorted.length / 100 * 99] / 1e3);
    }

    /** Answers each message with its number, until the program is interrupted. */
    private void pong() {
        FragmentHandler request = (buffer, offset, length, header) -> {
            message.putLong(0, buffer.getLong(offset));
            send();
        };
        while (!isStopped) {
            work.run();
            in.poll(request, 1);
        }
    }
}
