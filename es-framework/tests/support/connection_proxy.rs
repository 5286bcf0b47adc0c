//! A proxy that cuts or freezes connections.

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
};

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// A proxy in front of a server. It ends with its runtime.
pub(crate) struct ConnectionProxy {
    pub(crate) port: u16,
    cuts: watch::Sender<u32>,
    is_closed: Arc<AtomicBool>,
    is_freezing: Arc<AtomicBool>,
}

impl ConnectionProxy {
    pub(crate) async fn start(server: String) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let cuts = watch::Sender::new(0);
        let proxy = Self {
            port,
            cuts: cuts.clone(),
            is_closed: Arc::default(),
            is_freezing: Arc::default(),
        };
        let is_closed = Arc::clone(&proxy.is_closed);
        let is_freezing = Arc::clone(&proxy.is_freezing);
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                if is_closed.load(Ordering::Relaxed) {
                    continue;
                }
                let (server, mut cut) = (server.clone(), cuts.subscribe());
                let is_freezing = Arc::clone(&is_freezing);
                tokio::spawn(async move {
                    let mut server = TcpStream::connect(server).await?;
                    tokio::select! {
                        _ = copy_bidirectional(&mut client, &mut server) => {}
                        _ = cut.changed() => {
                            if is_freezing.load(Ordering::Relaxed) {
                                pending::<()>().await;
                            }
                        }
                    }
                    std::io::Result::Ok(())
                });
            }
        });
        proxy
    }

    /// Ends all connections. The server notices it later than the client.
    pub(crate) fn cut(&self) {
        self.is_freezing.store(false, Ordering::Relaxed);
        self.cuts.send_modify(|count| *count += 1);
    }

    /// Sends nothing more through the connections, and leaves them open.
    pub(crate) fn freeze(&self) {
        self.is_freezing.store(true, Ordering::Relaxed);
        self.cuts.send_modify(|count| *count += 1);
    }

    /// Ends all connections, and refuses others.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
        self.cut();
    }

    pub(crate) fn reopen(&self) {
        self.is_closed.store(false, Ordering::Relaxed);
    }
}
