//! Writes the log in a separate thread, so that a full pipe without a reader does not block requests.

use std::{
    io::{self, BufWriter, Write},
    sync::{Arc, OnceLock, mpsc},
    time::Duration,
};

use tracing_appender::non_blocking::{ErrorCounter, NonBlocking, NonBlockingBuilder, WorkerGuard};

/// The maximum number of log lines that wait to be written. Further lines are dropped and counted.
const QUEUED_LINES: usize = 16 * 1024;
/// The maximum time for which the end of the program waits until the lines are written.
const FLUSH_TIME: Duration = Duration::from_secs(2);

/// Starts the thread that writes the lines of the log to `output`.
pub(super) fn start_writer_thread(
    output: impl Write + Send + 'static,
) -> (NonBlocking, LogWriterGuard) {
    let dropped_lines = Arc::new(OnceLock::new());
    let output = DroppedLineReporter {
        // Lines that are queued together are written together.
        output: BufWriter::with_capacity(64 * 1024, output),
        dropped_lines: Arc::clone(&dropped_lines),
        reported: 0,
    };
    let (writer, guard) = NonBlockingBuilder::default()
        .buffered_lines_limit(QUEUED_LINES)
        .lossy(true)
        .thread_name("log")
        .finish(output);
    let _ = dropped_lines.set(writer.error_counter());
    (writer, LogWriterGuard(Some(guard)))
}

/// Writes the queued lines when it is dropped, unless nobody reads them in time.
#[derive(Debug)]
pub(super) struct LogWriterGuard(Option<WorkerGuard>);

impl Drop for LogWriterGuard {
    fn drop(&mut self) {
        let guard = self.0.take();
        let (sender, is_flushed) = mpsc::channel::<()>();
        // The guard prints to standard output when it fails, and nobody may read that either.
        let flushing = std::thread::Builder::new().spawn(move || {
            drop(guard);
            drop(sender);
        });
        if flushing.is_ok() {
            let _ = is_flushed.recv_timeout(FLUSH_TIME);
        }
    }
}

/// Logs how many lines were dropped, as soon as the output accepts lines again.
struct DroppedLineReporter<W: Write> {
    output: BufWriter<W>,
    dropped_lines: Arc<OnceLock<ErrorCounter>>,
    reported: usize,
}

impl<W: Write> Write for DroppedLineReporter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.output.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()?;
        let dropped = self.dropped_lines.get().map(ErrorCounter::dropped_lines);
        let dropped = dropped.unwrap_or_default();
        if let Some(lost) = dropped.checked_sub(self.reported)
            && lost > 0
        {
            self.reported = dropped;
            tracing::warn!(lost, "log lines were dropped because nobody read the log");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    /// The bytes of each write.
    struct RecordedWrites(mpsc::Sender<Vec<u8>>);

    impl Write for RecordedWrites {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.send(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn every_line_is_written_in_order_before_the_end() {
        let (sender, written) = mpsc::channel();
        let (mut lines, guard) = start_writer_thread(RecordedWrites(sender));
        let mut expected = String::new();
        for number in 0..1000 {
            let line = format!("line {number}\n");
            lines.write_all(line.as_bytes()).unwrap();
            expected.push_str(&line);
        }
        drop(guard);
        let written: Vec<_> = written.try_iter().collect();
        assert!(written.len() < 1000, "many lines are written at once");
        assert_eq!(String::from_utf8(written.concat()).unwrap(), expected);
    }

    /// A pipe that accepts nothing until its sender is dropped.
    struct StuckPipe(mpsc::Receiver<()>);

    impl Write for StuckPipe {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_output_that_takes_nothing_holds_nobody_up() {
        let (release, stuck) = mpsc::channel();
        let (mut lines, guard) = start_writer_thread(StuckPipe(stuck));
        let line = [b'x'; 1 << 10];
        for _ in 0..2 * QUEUED_LINES {
            lines.write_all(&line).unwrap();
        }
        assert!(lines.error_counter().dropped_lines() > 0);
        let begin = Instant::now();
        drop(guard);
        assert!(begin.elapsed() < 3 * FLUSH_TIME);
        drop(release);
    }

    #[test]
    fn dropped_lines_are_reported_once_lines_can_be_written_again() {
        let (release, stuck) = mpsc::channel();
        let (mut lines, guard) = start_writer_thread(StuckPipe(stuck));
        for _ in 0..2 * QUEUED_LINES {
            lines.write_all(&[b'x'; 1 << 10]).unwrap();
        }
        let dropped = lines.error_counter().dropped_lines();
        let mut reporter = DroppedLineReporter {
            output: BufWriter::new(io::sink()),
            dropped_lines: Arc::new(lines.error_counter().into()),
            reported: 0,
        };
        let (sender, logged) = mpsc::channel();
        let log = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_writer(move || RecordedWrites(sender.clone()))
            .finish();
        tracing::subscriber::with_default(log, || {
            reporter.flush().unwrap();
            reporter.flush().unwrap();
        });
        let logged: Vec<_> = logged.try_iter().collect();
        let logged = String::from_utf8(logged.concat()).unwrap();
        assert!(logged.contains("log lines were dropped"), "{logged}");
        assert_eq!(logged.matches(&format!("lost={dropped}")).count(), 1);
        drop((release, guard));
    }
}
