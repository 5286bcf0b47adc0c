//! Writes the log from a thread of its own, many lines at once: a call of the system for each line
//! costs more than the line, and a pipe that nobody reads must not hold up requests.

use std::{
    io::{self, Write},
    mem,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use tracing_subscriber::fmt::MakeWriter;

/// How long a line waits for others.
const LINGER: Duration = Duration::from_millis(10);
/// How many bytes wait for a reader that takes none; further lines are lost and counted.
const ROOM: usize = 8 << 20;
/// How long the end waits for such a reader.
const PATIENCE: Duration = Duration::from_secs(2);

/// Where lines wait to be written. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Lines(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    text: Vec<u8>,
    lost: u64,
    is_over: bool,
}

/// The thread that writes, until this is dropped.
#[derive(Debug)]
pub(super) struct Writing {
    lines: Lines,
    thread: Option<JoinHandle<()>>,
}

impl Lines {
    /// Has lines written to `output`.
    pub(super) fn to(output: impl Write + Send + 'static) -> io::Result<(Self, Writing)> {
        let lines = Self::default();
        let taken = lines.clone();
        let thread = std::thread::Builder::new()
            .name("log".into())
            .spawn(move || taken.write_to(output))?;
        let writing = Writing {
            lines: lines.clone(),
            thread: Some(thread),
        };
        Ok((lines, writing))
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Each change is whole, so a panic cannot have left one half done.
        self.0
            .waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn write_to(&self, mut output: impl Write) {
        let mut text = Vec::new();
        loop {
            let (lost, is_over) = self.take(&mut text);
            // Nobody is left who could be told that nobody can be told.
            let _ = output.write_all(&text).and_then(|()| output.flush());
            text.clear();
            if lost > 0 {
                tracing::warn!(lost, "lines of the log were lost, since nobody took them");
            }
            if is_over {
                return;
            }
        }
    }

    /// Waits for lines, and for those that follow at once.
    fn take(&self, text: &mut Vec<u8>) -> (u64, bool) {
        let changed = &self.0.changed;
        let nothing = |waiting: &mut Waiting| waiting.text.is_empty() && !waiting.is_over;
        let waiting = changed.wait_while(self.lock(), nothing);
        let waiting = waiting.unwrap_or_else(PoisonError::into_inner);
        let going_on = |waiting: &mut Waiting| !waiting.is_over;
        let waited = changed.wait_timeout_while(waiting, LINGER, going_on);
        let (mut waiting, _) = waited.unwrap_or_else(PoisonError::into_inner);
        mem::swap(&mut waiting.text, text);
        (mem::take(&mut waiting.lost), waiting.is_over)
    }
}

/// Takes a line as a whole: what is formatted is handed over at once.
impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut waiting = self.lock();
        if waiting.is_over {
            drop(waiting);
            io::stderr().write_all(line)?;
        } else if waiting.text.len().saturating_add(line.len()) > ROOM {
            waiting.lost = waiting.lost.saturating_add(1);
        } else {
            let is_first = waiting.text.is_empty();
            waiting.text.extend_from_slice(line);
            drop(waiting);
            if is_first {
                self.0.changed.notify_one();
            }
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Lines {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

/// Everything is written by then, unless nobody takes it.
impl Drop for Writing {
    fn drop(&mut self) {
        self.lines.lock().is_over = true;
        self.lines.0.changed.notify_one();
        let begin = Instant::now();
        while let Some(thread) = &self.thread
            && !thread.is_finished()
            && begin.elapsed() < PATIENCE
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.thread.take();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// What was written at a time.
    struct Told(mpsc::Sender<Vec<u8>>);

    impl Write for Told {
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
        let (mut lines, writing) = Lines::to(Told(sender)).unwrap();
        let mut expected = String::new();
        for number in 0..1000 {
            let line = format!("line {number}\n");
            lines.write_all(line.as_bytes()).unwrap();
            expected.push_str(&line);
        }
        drop(writing);
        let written: Vec<_> = written.iter().collect();
        assert!(written.len() < 1000, "many lines are written at once");
        assert_eq!(String::from_utf8(written.concat()).unwrap(), expected);
    }

    /// A pipe that nobody reads.
    struct Stuck(mpsc::Receiver<()>);

    impl Write for Stuck {
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
        let (mut lines, writing) = Lines::to(Stuck(stuck)).unwrap();
        let line = [b'x'; 1 << 20];
        for _ in 0..20 {
            lines.write_all(&line).unwrap();
        }
        let waiting = lines.lock();
        assert!(waiting.text.len() <= ROOM && waiting.lost > 0);
        drop(waiting);
        drop(writing);
        drop(release);
    }
}
