//! Tests of keeping a login good: against an authorization server in memory whose refresh tokens are good for one use, with real files, several
//! keepers that know nothing of each other, and real processes that have the lock.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tempfile::TempDir;
use tokio::sync::Semaphore;

use super::Keeper;
use crate::auth::login::Login;
use crate::auth::login::samples::login;
use crate::auth::renew::{Renew, RenewError};
use crate::auth::store::{LoginKey, LoginStore, TokenStore};
use crate::env::{Clock, HostDirs, HostEnv};
use crate::secret::Secret;
use crate::server_name::ServerName;

#[derive(Debug)]
struct Hand(AtomicU64);

impl Clock for Hand {
    fn now(&self) -> SystemTime {
        at(self.0.load(Ordering::SeqCst))
    }
}

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

/// How the next renewals end.
#[derive(Clone, Debug)]
enum Mood {
    Good,
    Busy,
    Strict,
}

/// An authorization server: every refresh token is good for one use.
#[derive(Debug)]
struct Issuer {
    clock: Arc<Hand>,
    mood: Mutex<Mood>,
    lifetime: u64,
    good: Mutex<HashSet<String>>,
    redeemed: AtomicU64,
    refused: AtomicU64,
    /// Renewals pass one by one when it is closed.
    is_gated: AtomicBool,
    gate: Semaphore,
}

impl Issuer {
    fn issue(&self, number: u64) -> Login {
        let refresh = format!("refresh-{number}");
        self.good.lock().unwrap().insert(refresh.clone());
        let now = self.clock.now();
        Login {
            refresh_token: Some(Secret::new(refresh)),
            obtained_at: now,
            expires_at: Some(now + Duration::from_secs(self.lifetime)),
            ..login(&format!("access-{number}"))
        }
    }

    fn counts(&self) -> (u64, u64) {
        (self.redeemed.load(Ordering::SeqCst), self.refused.load(Ordering::SeqCst))
    }
}

impl Renew for Issuer {
    fn renew<'a>(&'a self, old: Option<&'a Login>) -> BoxFuture<'a, Result<Login, RenewError>> {
        async move {
            let Some(token) = old.and_then(|old| old.refresh_token.as_ref()) else {
                return Err(RenewError::NeedsPerson("there is nothing to renew it with".to_owned()));
            };
            let mood = self.mood.lock().unwrap().clone();
            match mood {
                Mood::Good => (),
                Mood::Busy => return Err(RenewError::Transient("503 Service Unavailable".to_owned())),
                Mood::Strict => return Err(RenewError::Ended("invalid_grant".to_owned())),
            }
            let is_good = self.good.lock().unwrap().remove(token.expose());
            if !is_good {
                self.refused.fetch_add(1, Ordering::SeqCst);
                return Err(RenewError::Ended("invalid_grant".to_owned()));
            }
            let number = self.redeemed.fetch_add(1, Ordering::SeqCst) + 1;
            if self.is_gated.load(Ordering::SeqCst) {
                self.gate.acquire().await.unwrap().forget();
            }
            Ok(self.issue(number))
        }
        .boxed()
    }
}

struct Room {
    folder: TempDir,
    clock: Arc<Hand>,
    issuer: Arc<Issuer>,
}

impl Room {
    /// A room in which a login of that many seconds was made at second 1000.
    fn new(lifetime: u64) -> Self {
        let clock = Arc::new(Hand(AtomicU64::new(1_000)));
        let issuer = Arc::new(Issuer {
            clock: Arc::clone(&clock),
            mood: Mutex::new(Mood::Good),
            lifetime,
            good: Mutex::default(),
            redeemed: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            is_gated: AtomicBool::new(false),
            gate: Semaphore::new(0),
        });
        let room = Self { folder: tempfile::tempdir().unwrap(), clock, issuer };
        room.store().put(&key(), room.issuer.issue(0)).unwrap();
        room
    }

    fn store(&self) -> LoginStore {
        let dirs = HostDirs { user: self.folder.path().join("home"), system: "/none".into(), home: None };
        let clock: Arc<dyn Clock> = Arc::<Hand>::clone(&self.clock);
        let env = HostEnv { vars: BTreeMap::new(), dirs, workspace: self.folder.path().into(), clock };
        LoginStore::open(Arc::new(env), TokenStore::Auto)
    }

    /// As another process would have one.
    fn keeper(&self) -> Keeper {
        let renew: Arc<dyn Renew> = Arc::<Issuer>::clone(&self.issuer);
        Keeper::new(Arc::new(self.store()), key(), renew)
    }

    fn set(&self, now: u64, mood: Mood) {
        self.clock.0.store(now, Ordering::SeqCst);
        *self.issuer.mood.lock().unwrap() = mood;
    }

    fn gated(&self, is_gated: bool) {
        self.issuer.is_gated.store(is_gated, Ordering::SeqCst);
    }

    /// Waits until that many renewals have reached the authorization server.
    async fn reached(&self, count: u64) {
        while self.issuer.counts().0 < count {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    fn kept(&self) -> Option<(String, bool)> {
        let login = self.store().get(&key()).unwrap();
        login.map(|login| (login.access_token.expose().to_owned(), login.refresh_token.is_some()))
    }
}

fn key() -> LoginKey {
    LoginKey::new(&ServerName::new("a").unwrap(), &"https://a.example/mcp".parse().unwrap())
}

type Got = crate::Result<Option<Arc<Login>>>;

/// What a caller got: its token, `-` for nothing, or what went wrong.
fn shown(got: &Got) -> String {
    match got {
        Ok(Some(login)) => login.access_token.expose().to_owned(),
        Ok(None) => "-".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_good_login_comes_from_memory() {
    let room = Room::new(3_600);
    let keeper = room.keeper();
    assert_eq!(shown(&keeper.current().await), "access-0");
    fs::remove_dir_all(room.folder.path().join("home")).unwrap();
    assert_eq!(shown(&keeper.current().await), "access-0");
    assert!(!room.folder.path().join("home").exists(), "the disk was not touched");
    assert_eq!(shown(&room.keeper().current().await), "-", "another process finds none");
}

#[tokio::test]
async fn what_another_process_did_to_a_login_is_noticed_once() {
    let room = Room::new(3_600);
    let keeper = room.keeper();
    assert!(!keeper.has_changed().await.unwrap(), "nothing was looked at yet");
    type Deed = fn(&Room);
    let deeds: [(Deed, bool, &str); 5] = [
        (|_| {}, false, "access-0"),
        (|room| drop(room.store().put(&key(), room.issuer.issue(7)).unwrap()), true, "access-7"),
        (|room| assert!(room.store().remove(&key()).unwrap()), true, "-"),
        (|_| {}, false, "-"),
        (|room| drop(room.store().put(&key(), room.issuer.issue(8)).unwrap()), true, "access-8"),
    ];
    keeper.current().await.unwrap();
    for (number, (deed, has_changed, then)) in deeds.into_iter().enumerate() {
        deed(&room);
        assert_eq!(keeper.has_changed().await.unwrap(), has_changed, "{number}");
        assert_eq!(shown(&keeper.current().await), then, "{number}");
        assert!(!keeper.has_changed().await.unwrap(), "{number}");
    }
}

#[tokio::test]
async fn every_state_meets_every_answer() {
    let over = "the login to `a` is over and could not be renewed: 503 Service Unavailable";
    let refused = "`a` does not take the login any more, and it could not be renewed: 503 Service Unavailable";
    let (good, busy, strict) = (Mood::Good, Mood::Busy, Mood::Strict);
    // When (of a login from 1000 to 4600), whether it is refused, how the renewal ends; what the caller gets and what is kept.
    let cases = [
        (4_299, false, good.clone(), "access-0", "access-0", true),
        (4_300, false, good.clone(), "access-1", "access-1", true),
        (4_300, false, busy.clone(), "access-0", "access-0", true),
        (4_300, false, strict.clone(), "access-0", "access-0", false),
        (4_600, false, good.clone(), "access-1", "access-1", true),
        (4_600, false, busy.clone(), over, "access-0", true),
        (4_600, false, strict.clone(), "-", "access-0", false),
        (2_000, true, good, "access-1", "access-1", true),
        (2_000, true, busy, refused, "access-0", true),
        (2_000, true, strict, "-", "access-0", false),
    ];
    for (now, is_refused, mood, expected, kept, can_renew) in cases {
        let room = Room::new(3_600);
        let keeper = room.keeper();
        assert_eq!(shown(&keeper.current().await), "access-0");
        room.set(now, mood.clone());
        let got = if is_refused { keeper.refused(1).await } else { keeper.current().await };
        let what = format!("{now} {is_refused} {mood:?}");
        assert_eq!(shown(&got), expected, "{what}");
        assert_eq!(room.kept(), Some((kept.to_owned(), can_renew)), "{what}");
        assert_eq!(keeper.why_a_person().is_some(), matches!(mood, Mood::Strict), "{what}");
    }
}

#[tokio::test]
async fn a_renewal_that_failed_is_tried_again_after_a_while() {
    let room = Room::new(3_600);
    let keeper = room.keeper();
    keeper.current().await.unwrap();
    room.set(4_300, Mood::Busy);
    assert_eq!(shown(&keeper.current().await), "access-0");
    room.set(4_329, Mood::Good);
    assert_eq!(shown(&keeper.current().await), "access-0");
    room.set(4_330, Mood::Good);
    assert_eq!(shown(&keeper.current().await), "access-1");
    assert_eq!(room.issuer.counts(), (1, 0));
}

#[tokio::test]
async fn without_a_login_nothing_is_used_until_a_person_has_logged_in() {
    let room = Room::new(3_600);
    let keeper = room.keeper();
    keeper.current().await.unwrap();
    room.set(2_000, Mood::Strict);
    for _ in 0..2 {
        assert_eq!(shown(&keeper.refused(1).await), "-");
        assert_eq!(shown(&keeper.current().await), "-");
        assert_eq!(shown(&keeper.refused(0).await), "-", "what was refused before is not taken again");
    }
    room.store().put(&key(), login("by hand")).unwrap();
    assert_eq!(shown(&keeper.current().await), "-", "nobody looked again");
    assert_eq!(shown(&keeper.refused(0).await), "by hand");
    room.store().remove(&key()).unwrap();
    assert_eq!(shown(&keeper.reload().await), "-");
    room.store().put(&key(), login("again")).unwrap();
    assert_eq!(shown(&keeper.reload().await), "again");
}

#[tokio::test]
async fn while_a_login_is_renewed_others_wait_only_when_theirs_is_over() {
    for (now, meanwhile) in [(4_300, Some("access-0")), (4_600, None)] {
        let room = Room::new(3_600);
        let keeper = room.keeper();
        keeper.current().await.unwrap();
        room.set(now, Mood::Good);
        room.gated(true);
        let first = tokio::spawn({
            let keeper = keeper.clone();
            async move { keeper.current().await }
        });
        room.reached(1).await;
        let mut second = std::pin::pin!(keeper.current());
        match (meanwhile, second.as_mut().now_or_never()) {
            (Some(token), Some(got)) => assert_eq!(shown(&got), token),
            (None, None) => {
                room.issuer.gate.add_permits(1);
                assert_eq!(shown(&second.await), "access-1");
            }
            (_, other) => panic!("{now}: {other:?}"),
        }
        room.issuer.gate.add_permits(1);
        assert_eq!(shown(&first.await.unwrap()), "access-1");
        assert_eq!(room.issuer.counts(), (1, 0), "one renewal for all");
    }
}

#[tokio::test]
async fn a_caller_who_goes_away_loses_nothing() {
    let room = Room::new(3_600);
    let keeper = room.keeper();
    keeper.current().await.unwrap();
    room.set(4_600, Mood::Good);
    room.gated(true);
    let caller = tokio::spawn({
        let keeper = keeper.clone();
        async move { keeper.current().await }
    });
    room.reached(1).await;
    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());
    room.issuer.gate.add_permits(1);
    keeper.settle().await;
    assert_eq!(room.kept(), Some(("access-1".to_owned(), true)));
    assert_eq!(shown(&keeper.current().await), "access-1");
}

#[tokio::test]
async fn a_login_that_is_taken_away_or_made_anew_during_a_renewal_stays_so() {
    for (by_hand, expected) in [(None, "-"), (Some("by hand"), "by hand")] {
        let room = Room::new(3_600);
        let keeper = room.keeper();
        keeper.current().await.unwrap();
        room.set(4_600, Mood::Good);
        room.gated(true);
        let caller = tokio::spawn({
            let keeper = keeper.clone();
            async move { keeper.current().await }
        });
        room.reached(1).await;
        match by_hand {
            Some(token) => room.store().put(&key(), login(token)).map(|_| ()).unwrap(),
            None => assert!(room.store().remove(&key()).unwrap()),
        }
        room.issuer.gate.add_permits(1);
        assert_eq!(shown(&caller.await.unwrap()), expected);
        assert_eq!(room.kept().map(|kept| kept.0).as_deref(), by_hand);
    }
}

#[tokio::test]
async fn what_could_not_be_written_is_not_used_and_written_later() {
    let room = Room::new(3_600);
    let keeper = room.keeper();
    keeper.current().await.unwrap();
    room.set(4_600, Mood::Good);
    let in_the_way = room.folder.path().join("home/mcp-oauth-tokens.json.lock");
    fs::create_dir(&in_the_way).unwrap();
    let said = shown(&keeper.current().await);
    assert!(said.starts_with("the renewed login could not be kept: "), "{said}");
    assert!(keeper.current().await.is_err(), "and it is not renewed from what is used up");
    assert_eq!(room.kept(), Some(("access-0".to_owned(), true)));
    fs::remove_dir(&in_the_way).unwrap();
    assert_eq!(shown(&keeper.current().await), "access-1");
    assert_eq!(room.kept(), Some(("access-1".to_owned(), true)));
    assert_eq!(room.issuer.counts(), (1, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_keepers_renew_once_and_use_what_another_renewed() {
    let room = Room::new(3_600);
    let keepers: Vec<Keeper> = (0..8).map(|_| room.keeper()).collect();
    for keeper in &keepers {
        keeper.current().await.unwrap();
    }
    for (round, now) in [(1, 4_600), (2, 9_000), (3, 20_000)] {
        room.set(now, Mood::Good);
        let all = keepers.iter().flat_map(|keeper| [keeper.current(), keeper.current()]);
        let got = futures_util::future::join_all(all).await;
        assert!(got.iter().all(|got| shown(got) == format!("access-{round}")), "{got:?}");
        assert_eq!(room.issuer.counts(), (round, 0));
    }
    let refused = keepers.iter().map(|keeper| keeper.refused(4));
    let got = futures_util::future::join_all(refused).await;
    assert!(got.iter().all(|got| shown(got) == "access-4"), "{got:?}");
    assert_eq!(room.issuer.counts(), (4, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn logins_that_end_at_once_are_never_redeemed_twice() {
    let room = Arc::new(Room::new(0));
    let workers = (0..8).map(|_| {
        let room = Arc::clone(&room);
        tokio::spawn(async move {
            let keeper = room.keeper();
            for _ in 0..10 {
                assert!(keeper.current().await.unwrap().is_some());
            }
        })
    });
    for worker in futures_util::future::join_all(workers).await {
        worker.unwrap();
    }
    assert_eq!(room.issuer.counts(), (80, 0));
}

#[cfg(unix)]
#[tokio::test]
async fn a_process_that_is_killed_lets_go_of_the_lock() {
    let room = Room::new(3_600);
    let keeper = room.keeper();
    keeper.current().await.unwrap();
    let lock = keeper.0.lock_file.clone();
    assert!(!lock.exists(), "a login that is good needs no lock");
    fs::create_dir_all(lock.parent().unwrap()).unwrap();
    let ready = room.folder.path().join("ready");
    let holding = |line: &str| Command::new("flock").arg("-F").arg(&lock).args(["sh", "-c", line]).spawn().unwrap();
    let mut holder = holding(&format!("touch '{}'; exec sleep 600", ready.display()));
    while !ready.exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    room.set(4_600, Mood::Good);
    let caller = tokio::spawn(async move { keeper.current().await });
    let mut waiter = holding("true");
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!caller.is_finished(), "it waits for its turn");
    for process in [&mut waiter, &mut holder] {
        process.kill().unwrap();
        process.wait().unwrap();
    }
    assert_eq!(shown(&caller.await.unwrap()), "access-1");
}
