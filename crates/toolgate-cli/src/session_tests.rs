//! Where the folders of a person are.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::folders;

#[test]
fn folders_are_where_the_variables_say() {
    let home = ("HOME", "/home/a");
    let cases = [
        (vec![home], "/home/a/.toolgate", "/etc/toolgate", Some("/home/a")),
        (vec![home, ("TOOLGATE_HOME", "/t")], "/t", "/etc/toolgate", Some("/home/a")),
        (vec![("TOOLGATE_SYSTEM_DIR", "/s")], "/nonexistent/.toolgate", "/s", None),
        (vec![("HOME", ""), ("TOOLGATE_HOME", "")], "/nonexistent/.toolgate", "/etc/toolgate", None),
    ];
    for (vars, user, system, home) in cases {
        let vars: BTreeMap<String, String> =
            vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let found = folders(|name| vars.get(name).map(Into::into));
        assert_eq!((found.user, found.system), (PathBuf::from(user), PathBuf::from(system)), "{vars:?}");
        assert_eq!(found.home, home.map(PathBuf::from), "{vars:?}");
    }
}
