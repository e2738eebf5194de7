//! A scripted server on a byte stream with one message in each line: stdio, an in-process pipe, a socket.
//! Everything runs inside one future; dropping it ends the server with all its requests.

use futures_util::future::{BoxFuture, FutureExt as _};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};

use crate::engine::deliver;
use crate::engine::incoming::Client;
use crate::engine::server::Server;
use crate::engine::session::Session;
use crate::engine::steps::{End, Frame, Step, StepLog};
use crate::fault::What;
use crate::limits::{FILLER_CHUNK_BYTES, LINE_BYTES_MAX};
use crate::process;
use crate::record::Event;

/// How a server on a pipe came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The client ended the input.
    EndOfInput,
    /// The script said so.
    Exit(u8),
    /// The script broke the connection.
    Reset,
}

/// Where the server runs.
#[derive(Debug)]
pub(crate) enum Home {
    /// In a process of its own.
    Process,
    /// In the process of the test. The channel closes when the client is gone: a frozen server cannot see that itself.
    Within(oneshot::Receiver<()>),
}

/// What the server does when its input has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AtEnd {
    Leave,
    Stay,
}

/// Why writing stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Silence {
    /// The log came to its end, the output was closed, the script stalls, or nobody reads. Input is still read.
    Mute,
    Frozen,
    Exit(u8),
    Reset,
}

type Job = BoxFuture<'static, ()>;

/// Serves until the input ends or the script says otherwise.
pub(crate) async fn serve<R, W>(server: Arc<Server>, read: R, write: W, home: Home) -> Ending
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let outlet = StepLog::new();
    let session = Arc::new(Session::new(outlet.clone()));
    server.add_session("pipe", &session);
    let is_process = matches!(home, Home::Process);
    let mut at_end = AtEnd::Leave;
    for hit in server.hits_at_start() {
        match &hit.what {
            What::Pause { ms } => tokio::time::sleep(Duration::from_millis(*ms)).await,
            What::IgnoreEof if is_process => at_end = AtEnd::Stay,
            What::IgnoreTerm if is_process => process::ignore_term(&server),
            what => outlet.push(deliver::act(&server, what)),
        }
    }
    let client = Client { server, session, outlet };
    run(client, read, PipeWriter { write, is_process }, home, at_end).await
}

async fn run<R, W>(client: Client, read: R, mut writer: PipeWriter<W>, home: Home, at_end: AtEnd) -> Ending
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let (jobs, queue) = mpsc::unbounded_channel();
    let mut reading = pin!(read_lines(&client, read, jobs, at_end));
    let mut working = pin!(work(queue));
    let mut writing = pin!(writer.follow(&client.outlet));
    let mut is_writing = true;
    let mut is_reading = true;
    let mut is_working = true;
    while is_writing || is_working {
        tokio::select! {
            biased;
            silence = &mut writing, if is_writing => match silence {
                Silence::Mute => is_writing = false,
                Silence::Frozen => return stay_frozen(home).await,
                Silence::Exit(code) => return Ending::Exit(code),
                Silence::Reset => return Ending::Reset,
            },
            () = &mut working, if is_working => {
                is_working = false;
                client.outlet.finish();
            }
            () = &mut reading, if is_reading => is_reading = false,
        }
    }
    Ending::EndOfInput
}

async fn stay_frozen(home: Home) -> Ending {
    match home {
        Home::Process => std::future::pending().await,
        // The sender is never used, only dropped.
        Home::Within(client) => {
            let _gone = client.await.is_err();
            Ending::Reset
        }
    }
}

async fn read_lines<R: AsyncRead + Unpin>(client: &Client, read: R, jobs: mpsc::UnboundedSender<Job>, at_end: AtEnd) {
    let mut read = BufReader::new(read);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut bounded = (&mut read).take(LINE_BYTES_MAX as u64);
        match bounded.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => break,
            Ok(_) => (),
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        for job in client.take_in(text) {
            // The queue is open as long as this function runs.
            let _queued = jobs.send(job).is_ok();
        }
    }
    client.server.record.event(Event::EndOfInput);
    if at_end == AtEnd::Stay {
        std::future::pending::<()>().await;
    }
}

/// Runs requests until the input has ended and nothing is ready any more.
async fn work(mut queue: mpsc::UnboundedReceiver<Job>) {
    let mut running = FuturesUnordered::new();
    loop {
        tokio::select! {
            job = queue.recv() => match job {
                Some(job) => running.push(job),
                None => break,
            },
            Some(()) = running.next() => (),
        }
    }
    while let Some(Some(())) = running.next().now_or_never() {}
}

/// Carries out steps on a pipe.
struct PipeWriter<W> {
    write: W,
    is_process: bool,
}

impl<W: AsyncWrite + Unpin> PipeWriter<W> {
    async fn follow(&mut self, log: &StepLog) -> Silence {
        let mut index = 0;
        while let Some(step) = log.get(index).await {
            log.spend(index);
            index += 1;
            match self.carry_out(step).await {
                Ok(None) => (),
                Ok(Some(silence)) => return silence,
                Err(_) => return Silence::Mute,
            }
        }
        Silence::Mute
    }

    async fn carry_out(&mut self, step: Step) -> io::Result<Option<Silence>> {
        match step {
            Step::Frame(frame) => self.frame(&frame).await?,
            Step::InvalidUtf8 => {
                self.write.write_all(b"\xff\xfe\xc3\x28 this is not UTF-8\n").await?;
                self.write.flush().await?;
            }
            Step::Fill { bytes } => write_filler(&mut self.write, bytes).await?,
            Step::StderrFlood { bytes } if self.is_process => process::flood_stderr(bytes).await,
            Step::Pause(time) => tokio::time::sleep(time).await,
            Step::End(End::Exit(code)) => return Ok(Some(Silence::Exit(code))),
            Step::End(End::Reset) if !self.is_process => return Ok(Some(Silence::Reset)),
            Step::End(End::Close | End::Reset) => {
                self.write.shutdown().await?;
                if self.is_process {
                    process::close_stdout();
                }
                return Ok(Some(Silence::Mute));
            }
            Step::Stall => return Ok(Some(Silence::Mute)),
            Step::Freeze => return Ok(Some(Silence::Frozen)),
            Step::StderrFlood { .. } | Step::Prime { .. } | Step::PrimeAndClose { .. } | Step::Spent => (),
        }
        Ok(None)
    }

    async fn frame(&mut self, frame: &Frame) -> io::Result<()> {
        let mut framed = frame.text.as_bytes().to_vec();
        framed.push(b'\n');
        write_slowly(&mut self.write, frame.part(&framed), frame.drip).await
    }
}

/// Writes bytes, in pieces with pauses where that is asked for.
async fn write_slowly<W: AsyncWrite + Unpin>(
    write: &mut W,
    bytes: &[u8],
    drip: Option<(usize, Duration)>,
) -> io::Result<()> {
    let Some((piece, pause)) = drip else {
        write.write_all(bytes).await?;
        return write.flush().await;
    };
    for piece in bytes.chunks(piece) {
        tokio::time::sleep(pause).await;
        write.write_all(piece).await?;
        write.flush().await?;
    }
    Ok(())
}

async fn write_filler<W: AsyncWrite + Unpin>(write: &mut W, bytes: u64) -> io::Result<()> {
    let block = [b'x'; FILLER_CHUNK_BYTES];
    let mut left = bytes;
    while left > 0 {
        let piece = usize::try_from(left).unwrap_or(usize::MAX).min(block.len());
        write.write_all(block.get(..piece).unwrap_or_default()).await?;
        left -= piece as u64;
    }
    write.flush().await
}
