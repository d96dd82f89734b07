//! Answers over TCP and UDP with what arrives: smol_echo ADDRESS PORT

use std::io::Result;

use smol::io::{AsyncReadExt, AsyncWriteExt};
use smol::net::{TcpListener, TcpStream, UdpSocket};

async fn answer(mut stream: TcpStream) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut bytes = vec![0; 65_536];
    loop {
        match stream.read(&mut bytes).await? {
            0 => return Ok(()),
            length => stream.write_all(&bytes[..length]).await?,
        }
    }
}

async fn datagrams(socket: UdpSocket) -> Result<()> {
    let mut bytes = vec![0; 65_536];
    loop {
        let (length, from) = socket.recv_from(&mut bytes).await?;
        socket.send_to(&bytes[..length], from).await?;
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let at = format!("{}:{}", arguments[1], arguments[2]);
    smol::block_on(async {
        smol::spawn(datagrams(UdpSocket::bind(&at).await?)).detach();
        let listener = TcpListener::bind(&at).await?;
        loop {
            smol::spawn(answer(listener.accept().await?.0)).detach();
        }
    })
}
