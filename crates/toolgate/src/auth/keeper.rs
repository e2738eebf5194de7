//! Keeping one login good: used for every request from memory, renewed before it ends, by one process at a time.
//!
//! Refresh tokens are often good for one use. So there is one renewal at a time in this process (a *flight*, which all who need it wait for) and
//! among all processes (a lock file); whoever has the lock looks first whether somebody else has renewed the login meanwhile; and a new login
//! is written down before anybody uses it. A flight is a task of its own: it comes to its end also when nobody waits for it any more.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};

use super::due::{Next, Reason, due_at, is_over, next};
use super::login::Login;
use super::renew::{Renew, RenewError};
use super::store::{LoginKey, LoginStore, Replaced};
use crate::apart::apart;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{LOGINS_FILE_MS, REFRESH_LOCK_MS, REFRESH_MS, REFRESH_RETRY_MS};
use crate::secret::Secret;
use crate::server_name::as_word;
use crate::settings::diagnostic::visible;
use crate::state_file::{Privacy, make_folder};

/// Keeps the login to one server. Cheap to clone; all clones keep the same one.
#[derive(Clone, Debug)]
pub struct Keeper(Arc<Inner>);

struct Inner {
    store: Arc<LoginStore>,
    key: LoginKey,
    renew: Arc<dyn Renew>,
    lock_file: PathBuf,
    held: Mutex<Held>,
}

/// What this process has of the login. Looked at for every request, so nothing slow is done while it is locked.
#[derive(Default)]
struct Held {
    /// Whether the kept logins were looked at.
    is_read: bool,
    login: Option<Arc<Login>>,
    /// From when on it is renewed.
    due_at: Option<SystemTime>,
    /// The token that the server refused last.
    refused: Option<Secret>,
    /// What is on its way.
    flight: Option<Flight>,
    /// What was renewed and could not be written down, and what it was renewed from.
    unwritten: Option<(Option<Login>, Login)>,
    /// Why only a person can help.
    person: Option<String>,
}

type Flight = Shared<BoxFuture<'static, Result<Option<Arc<Login>>>>>;

impl Keeper {
    /// Keeps the login of that name, renewed that way. Nothing is read before it is needed.
    #[must_use]
    pub fn new(store: Arc<LoginStore>, key: LoginKey, renew: Arc<dyn Renew>) -> Self {
        let lock_file = store.env().dirs.user.join("locks").join(format!("oauth-{}.lock", key.hash()));
        Self(Arc::new(Inner { store, key, renew, lock_file, held: Mutex::default() }))
    }

    /// The login to use now. One that ends soon is renewed first; while somebody does that, others use it as long as it is good. `None`
    /// when only a person can log in.
    ///
    /// # Errors
    /// When the kept logins cannot be read or written, or the login is over and could not be renewed for now.
    pub async fn current(&self) -> Result<Option<Arc<Login>>> {
        let now = self.now();
        let flight = {
            let mut held = self.0.held();
            if held.is_read && held.due_at.is_none_or(|due| now < due) {
                return Ok(held.login.clone());
            }
            match &held.flight {
                Some(_) if held.login.as_ref().is_some_and(|login| !is_over(login, now)) => {
                    return Ok(held.login.clone());
                }
                Some(flight) => flight.clone(),
                None => self.start(&mut held, Reason::Due),
            }
        };
        flight.await
    }

    /// The login to use after the server has refused the one of that generation, or a request without any (generation 0). `None` when only a
    /// person can log in.
    ///
    /// # Errors
    /// When the kept logins cannot be read or written, or the login could not be renewed for now.
    pub async fn refused(&self, generation: u64) -> Result<Option<Arc<Login>>> {
        let on_its_way = {
            let mut held = self.0.held();
            match &held.login {
                Some(login) if login.generation == generation => held.refused = Some(login.access_token.clone()),
                // Somebody else was refused before, and has a new one already.
                Some(login) if !is_over(login, self.now()) => return Ok(Some(Arc::clone(login))),
                _ => (),
            }
            held.flight.clone()
        };
        if let Some(flight) = on_its_way {
            let found = flight.await?;
            if found.as_ref().is_none_or(|login| login.generation != generation) {
                return Ok(found);
            }
        }
        let flight = {
            let mut held = self.0.held();
            let reason = Reason::Refused(held.refused.clone());
            match &held.flight {
                Some(flight) => flight.clone(),
                None => self.start(&mut held, reason),
            }
        };
        flight.await
    }

    /// Why only a person can help, when that is so.
    #[must_use]
    pub fn why_a_person(&self) -> Option<String> {
        self.0.held().person.clone()
    }

    /// Looks at the kept logins again: a person has logged in or out.
    ///
    /// # Errors
    /// When the kept logins cannot be read or written, or the login is over and could not be renewed for now.
    pub async fn reload(&self) -> Result<Option<Arc<Login>>> {
        self.settle().await;
        self.0.held().is_read = false;
        self.current().await
    }

    /// Whether somebody else has logged in or out, or renewed the login, since the kept logins were looked at; they are looked at again then.
    ///
    /// # Errors
    /// When the kept logins cannot be read.
    pub async fn has_changed(&self) -> Result<bool> {
        let held = {
            let held = self.0.held();
            if !held.is_read {
                return Ok(false);
            }
            held.login.clone()
        };
        let which = |login: &Login| (login.generation, login.access_token.clone());
        let stored = self.with_store(|store, key| store.get(key)).await?;
        let has_changed = held.as_deref().map(which) != stored.as_ref().map(which);
        if has_changed {
            self.0.held().is_read = false;
        }
        Ok(has_changed)
    }

    /// Waits for a renewal that is on its way: whoever ends the runtime while one runs may lose its refresh token.
    pub async fn settle(&self) {
        let flight = self.0.held().flight.clone();
        if let Some(flight) = flight {
            let _told_to_those_who_asked = flight.await.is_err();
        }
    }

    fn now(&self) -> SystemTime {
        self.0.store.env().clock.now()
    }

    /// Starts a flight.
    fn start(&self, held: &mut Held, reason: Reason) -> Flight {
        let landing = Landing(self.clone());
        let task = tokio::spawn(async move { landing.0.fly(reason).await });
        let flight = task.map(|ended| ended.unwrap_or_else(|_| Err(interrupted()))).boxed().shared();
        held.flight = Some(flight.clone());
        flight
    }

    /// One renewal, or what somebody else has renewed.
    async fn fly(&self, reason: Reason) -> Result<Option<Arc<Login>>> {
        if let Some(nothing_to_renew) = self.looked_up(&reason).await? {
            return Ok(nothing_to_renew);
        }
        let _lock = self.lock().await?;
        self.write_what_was_not().await?;
        let stored = self.with_store(|store, key| store.get(key)).await?;
        let now = self.now();
        match next(stored.as_ref(), &reason, now) {
            Next::Use => Ok(self.hold(stored, None)),
            Next::Renew => {
                let limit = Duration::from_millis(REFRESH_MS);
                let renewed = tokio::time::timeout(limit, self.0.renew.renew(stored.as_ref())).await;
                let late = || Err(RenewError::Transient(format!("it took longer than {limit:?}")));
                match renewed.unwrap_or_else(|_| late()) {
                    Ok(login) => self.keep(stored, login).await,
                    Err(RenewError::NeedsPerson(why)) => Ok(self.needs_person(stored, &reason, why)),
                    Err(RenewError::Ended(why)) => self.has_ended(stored, &reason, why).await,
                    Err(RenewError::Transient(why)) => self.not_now(stored, &reason, &why),
                }
            }
        }
    }

    /// What a look at the kept logins tells without keeping anybody else from them: most servers have no login, and most logins are good.
    async fn looked_up(&self, reason: &Reason) -> Result<Option<Option<Arc<Login>>>> {
        if self.0.held().unwritten.is_some() {
            return Ok(None);
        }
        let stored = self.with_store(|store, key| store.get(key)).await?;
        if stored.is_none() && !self.0.renew.can_begin() {
            return Ok(Some(self.needs_person(None, reason, "nobody has logged in".to_owned())));
        }
        let is_good = stored.is_some() && next(stored.as_ref(), reason, self.now()) == Next::Use;
        Ok(is_good.then(|| self.hold(stored, None)))
    }

    /// Writes a new login down, and only then lets anybody use it.
    async fn keep(&self, old: Option<Login>, new: Login) -> Result<Option<Arc<Login>>> {
        let (replaced, attempt) = ((old.clone(), new.clone()), (old, new));
        let written = self.with_store(move |store, key| store.replace(key, attempt.0.as_ref(), attempt.1)).await;
        match written {
            Ok(Replaced::Kept(login) | Replaced::Other(login)) => Ok(self.hold(Some(login), None)),
            Ok(Replaced::Gone) => Ok(self.hold(None, None)),
            Err(error) => {
                self.0.held().unwritten = Some(replaced);
                Err(error.while_doing("the renewed login could not be kept"))
            }
        }
    }

    /// What could not be written down before comes first: what it was renewed from is used up.
    async fn write_what_was_not(&self) -> Result<()> {
        let unwritten = self.0.held().unwritten.take();
        match unwritten {
            Some((old, new)) => self.keep(old, new).await.map(|_| ()),
            None => Ok(()),
        }
    }

    /// What the login was renewed with is forgotten, and nothing else: the login may still be good.
    async fn has_ended(&self, mut stored: Option<Login>, reason: &Reason, why: String) -> Result<Option<Arc<Login>>> {
        if let Some(old) = stored.take_if(|login| login.refresh_token.is_some()) {
            let marked = Login { refresh_token: None, ..old.clone() };
            let replaced = self.with_store(move |store, key| store.replace(key, Some(&old), marked)).await?;
            stored = match replaced {
                Replaced::Kept(login) => Some(login),
                Replaced::Other(login) => return Ok(self.hold(Some(login), None)),
                Replaced::Gone => None,
            };
        }
        Ok(self.needs_person(stored, reason, why))
    }

    /// Only a person can help. What is still good is used to its end.
    fn needs_person(&self, stored: Option<Login>, reason: &Reason, why: String) -> Option<Arc<Login>> {
        let now = self.now();
        let usable = stored.filter(|login| matches!(reason, Reason::Due) && !is_over(login, now));
        let ends = usable.as_ref().and_then(|login| login.expires_at);
        let login = self.hold(usable, ends);
        self.0.held().person = Some(why);
        login
    }

    /// It may work later: what is still good is used until then.
    fn not_now(&self, stored: Option<Login>, reason: &Reason, why: &str) -> Result<Option<Arc<Login>>> {
        let now = self.now();
        match stored {
            Some(login) if matches!(reason, Reason::Due) && !is_over(&login, now) => {
                let later = now.checked_add(Duration::from_millis(REFRESH_RETRY_MS));
                Ok(self.hold(Some(login), later))
            }
            stored => {
                let server = self.0.key.server();
                let shown = visible(server);
                let what = match (&stored, reason) {
                    (None, _) => format!("no login to `{shown}` could be got: {why}"),
                    (_, Reason::Due) => format!("the login to `{shown}` is over and could not be renewed: {why}"),
                    (_, Reason::Refused(_)) => {
                        format!("`{shown}` does not take the login any more, and it could not be renewed: {why}")
                    }
                };
                let hint = format!("try again later; `toolgate mcp auth {}` logs in anew", as_word(&shown));
                Err(Error::new(ErrorKind::LoginFailed, what).about(server).hinting(hint))
            }
        }
    }

    /// From now on this is the login. It is looked at again at `due`, or when it ends soon.
    fn hold(&self, login: Option<Login>, due: Option<SystemTime>) -> Option<Arc<Login>> {
        let mut held = self.0.held();
        held.is_read = true;
        held.person = None;
        held.due_at = due.or_else(|| login.as_ref().and_then(due_at));
        held.login = login.map(Arc::new);
        held.login.clone()
    }

    /// Keeps other processes from renewing the same login. A process that ends, however it does, lets go of it.
    async fn lock(&self) -> Result<File> {
        let path = self.0.lock_file.clone();
        let locked = apart(Duration::from_millis(REFRESH_LOCK_MS), move || take_lock(&path)).await;
        locked.unwrap_or_else(|| {
            let server = self.0.key.server();
            let message = format!("another process renews the login to `{}` and does not end", visible(server));
            Err(Error::new(ErrorKind::LoginFailed, message).about(server))
        })
    }

    /// Asks the kept logins, which may take a while.
    async fn with_store<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&LoginStore, &LoginKey) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (store, key) = (Arc::clone(&self.0.store), self.0.key.clone());
        let answer = apart(Duration::from_millis(LOGINS_FILE_MS), move || ask(&store, &key)).await;
        answer.unwrap_or_else(|| {
            let message = format!("{}: it took too long to read or write it", self.0.store.path().display());
            Err(Error::new(ErrorKind::State, message))
        })
    }
}

/// Takes a flight off before its end is told, however it ends, so that whoever hears of it can start the next.
struct Landing(Keeper);

impl Drop for Landing {
    fn drop(&mut self) {
        self.0.0.held().flight = None;
    }
}

impl Inner {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keeper").field("key", &self.key).field("renew", &self.renew).finish_non_exhaustive()
    }
}

/// Waits for the lock without looking for it again and again. The file stays: nobody may wait for one that is not the one any more.
fn take_lock(path: &Path) -> Result<File> {
    let cannot = |error: std::io::Error| {
        Error::new(ErrorKind::State, format!("cannot lock {}: {error}", path.display()))
            .hinting("check that you may write it, and in its folder")
    };
    if let Some(folder) = path.parent() {
        make_folder(folder, Privacy::Owner).map_err(cannot)?;
    }
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(cannot)?;
    file.lock().map_err(cannot)?;
    Ok(file)
}

fn interrupted() -> Error {
    Error::new(ErrorKind::LoginFailed, "the renewal of a login was interrupted").hinting("try again")
}

#[cfg(test)]
#[path = "keeper_tests.rs"]
mod tests;
