//! Answers over TCP and UDP with what arrives: tokio_echo ADDRESS PORT THREADS
//!
//! One thread runs everything; more are a pool that steals work.

use std::io::Result;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};

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

async fn serve(at: String) -> Result<()> {
    tokio::spawn(datagrams(UdpSocket::bind(&at).await?));
    let listener = TcpListener::bind(&at).await?;
    loop {
        tokio::spawn(answer(listener.accept().await?.0));
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let mut builder = match arguments[3].as_str() {
        "1" => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    builder.enable_all().build()?.block_on(serve(format!("{}:{}", arguments[1], arguments[2])))
}
