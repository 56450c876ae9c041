//! The simulator's end of the wire: connections of programs, a session for each process that uses a GPU.
//!
//! One thread does everything, in the order in which it is asked for. Processes are told apart by their numbers; several libraries in one
//! process have a connection each, and one session.

mod connection;

use crate::session::{Printed, Said, Session, Settings};
use connection::Connection;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use warpsim_doors::wire::{Request, VERSION, status};
use warpsim_workloads::simulated::Simulated;

/// What is to happen outside of the server.
pub trait Watch {
    /// A GPU for a process, the `number`th that uses one, from 1 on; its kernels print to `printed`. The error is told to the user.
    fn begin(&mut self, number: u32, printed: Printed) -> Result<Simulated, String>;
    /// A launch has ended, or something is to be told.
    fn said(&mut self, said: Said);
    /// A process has ended that used a GPU.
    fn end(&mut self, number: u32, session: Session);
}

/// What was seen of a program that was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Its number.
    pub process: u32,
    /// What it is made of, see [`facts`](warpsim_doors::wire::facts).
    pub facts: u32,
    /// Its file.
    pub path: PathBuf,
}

/// A process that uses a GPU.
struct Process {
    id: u32,
    number: u32,
    connections: usize,
    session: Option<Session>,
}

/// The server.
pub struct Server {
    listener: UnixListener,
    folder: PathBuf,
    settings: Rc<Settings>,
    connections: Vec<Connection>,
    processes: Vec<Process>,
    next: u32,
    /// What was seen of programs.
    pub seen: Vec<Seen>,
    /// Whether anything was ever asked for.
    pub calls: bool,
}

impl Server {
    /// That listens at `socket`. Files of shared memory lie in `folder`.
    pub fn new(socket: &Path, folder: &Path, settings: Settings) -> io::Result<Server> {
        Ok(Server {
            listener: UnixListener::bind(socket)?,
            folder: folder.to_path_buf(),
            settings: Rc::new(settings),
            connections: Vec::new(),
            processes: Vec::new(),
            next: 1,
            seen: Vec::new(),
            calls: false,
        })
    }

    /// Serves until `ended` can be read from, which says that the program has ended, and no process is connected any more.
    pub fn serve(&mut self, ended: &UnixStream, watch: &mut dyn Watch) -> io::Result<()> {
        let mut is_over = false;
        loop {
            let ready = self.wait(ended, is_over)?;
            // Requests before the end: what a program asked for last is done before its end is seen.
            for index in (0..self.connections.len()).rev() {
                if ready[index + 2] && !self.serve_one(index, watch) {
                    let gone = self.connections.remove(index);
                    self.disconnected(gone.process, watch);
                }
            }
            if ready[0] {
                let (stream, _) = self.listener.accept()?;
                self.connections.push(Connection::new(stream));
                continue;
            }
            is_over |= ready[1];
            if is_over && self.connections.is_empty() {
                return Ok(());
            }
        }
    }

    /// Waits until something can be read: whether from the listener, from `ended`, from each connection.
    fn wait(&self, ended: &UnixStream, is_over: bool) -> io::Result<Vec<bool>> {
        let streams = self.connections.iter().map(|c| c.stream.as_raw_fd());
        let all = [self.listener.as_raw_fd(), ended.as_raw_fd()]
            .into_iter()
            .chain(streams);
        let mut polled: Vec<libc::pollfd> = all
            .map(|fd| libc::pollfd {
                fd,
                events: libc::POLLIN,
                revents: 0,
            })
            .collect();
        if is_over {
            // It stays readable; a negative number is not looked at.
            polled[1].fd = -1;
        }
        let time = if is_over && self.connections.is_empty() {
            0
        } else {
            -1
        };
        loop {
            // SAFETY: the list is as long as is said.
            let found =
                unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, time) };
            if found >= 0 {
                return Ok(polled.iter().map(|p| p.revents != 0).collect());
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
    }

    /// Answers one request; whether the connection is still there.
    fn serve_one(&mut self, index: usize, watch: &mut dyn Watch) -> bool {
        let Ok(Some(frame)) = self.connections[index].read() else {
            return false;
        };
        let Some(request) = Request::read(frame.code, &frame.words) else {
            return self.connections[index].answer(Err(status::INVALID_VALUE));
        };
        let process = self.connections[index].process;
        let answer = match (request, process) {
            (Request::Seen { process, facts }, _) => {
                use std::os::unix::ffi::OsStringExt;
                let path = PathBuf::from(std::ffi::OsString::from_vec(frame.payload));
                self.seen.push(Seen {
                    process,
                    facts,
                    path,
                });
                Ok(crate::session::Reply::default())
            }
            (Request::Hello { version, process }, None) if version == VERSION => {
                self.calls = true;
                self.connections[index].process = Some(process);
                self.connected(process);
                Ok(crate::session::Reply::default())
            }
            (_, None) => Err(status::NOT_INITIALIZED),
            (request, Some(process)) => {
                let connection = &mut self.connections[index];
                let Some(process) = self.processes.iter_mut().find(|p| p.id == process) else {
                    return false;
                };
                let session = match &mut process.session {
                    Some(session) => session,
                    none => {
                        let printed = Printed::default();
                        match watch.begin(process.number, printed.clone()) {
                            Ok(device) => {
                                let folder = self.folder.clone();
                                none.insert(Session::new(
                                    device,
                                    self.settings.clone(),
                                    printed,
                                    folder,
                                ))
                            }
                            Err(why) => {
                                watch.said(Said::Note(why));
                                return connection.answer(Err(status::NO_DEVICE));
                            }
                        }
                    }
                };
                let answer = session.answer(request, frame.payload, connection);
                session
                    .take_said()
                    .into_iter()
                    .for_each(|said| watch.said(said));
                answer
            }
        };
        self.connections[index].answer(answer)
    }

    fn connected(&mut self, id: u32) {
        match self.processes.iter_mut().find(|p| p.id == id) {
            Some(process) => process.connections += 1,
            None => {
                let number = self.next;
                self.next += 1;
                self.processes.push(Process {
                    id,
                    number,
                    connections: 1,
                    session: None,
                });
            }
        }
    }

    fn disconnected(&mut self, id: Option<u32>, watch: &mut dyn Watch) {
        let Some(at) = self.processes.iter().position(|p| Some(p.id) == id) else {
            return;
        };
        self.processes[at].connections -= 1;
        if self.processes[at].connections == 0 {
            let process = self.processes.remove(at);
            match process.session {
                Some(session) => watch.end(process.number, session),
                // It has used nothing: the next one has its number.
                None if process.number + 1 == self.next => self.next = process.number,
                None => {}
            }
        }
    }
}
