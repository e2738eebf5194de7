//! What is decided about one call: the server's own lists, then the rules with what was allowed before, then where its paths lead.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::allowed_path;
use super::checks::Checks;
use super::context::CallContext;
use super::edit_preview::{Edit, edit_of};
use super::guarded_path;
use super::look_guard;
use super::understood::understood;
use crate::asker::Asker;
use crate::filter::{Arguments, FilterVerdict};
use crate::grants::{Covering, GrantSubject, Lasting};
use crate::limits::CHECKED_PARTS_MAX;
use crate::policy::{
    Because, CallFacts, Decision, Explanation, Mode, Presence, Remembered, RuleOrigin, SHELL_TOOL, ServerPattern,
    ToolFacts, Verdict,
};
use crate::registry::{Catalog, CatalogTool, PreparedCall, definition_hash};
use crate::servers::{ServerConfig, TransportConfig, identity};
use crate::trust::FolderStanding;
use crate::workspace_folders::WorkspaceFolders;

/// A call, looked at closely enough to decide about it.
pub(super) struct Subject<'a> {
    pub(super) call: &'a PreparedCall,
    pub(super) arguments: Value,
    /// Why the arguments cannot be understood.
    misunderstood: Option<String>,
    pub(super) checks: Arc<Checks>,
    /// The mode it is decided in, whatever the mode is when it ends.
    pub(super) mode: Mode,
    identity: &'a str,
}

impl<'a> Subject<'a> {
    pub(super) fn of(call: &'a PreparedCall, context: &CallContext) -> Self {
        let (arguments, misunderstood) = match understood(&call.arguments) {
            Ok(arguments) => (arguments, None),
            Err(why) => (Value::Null, Some(why)),
        };
        Self {
            arguments,
            misunderstood,
            checks: context.checks(&call.tool.tool),
            mode: context.mode(),
            identity: call.offer.line.identity(),
            call,
        }
    }

    /// Everything the server offers, each tool with the hash of its definition: what an answer about the whole server is about.
    pub(super) fn all_tools(&self) -> BTreeMap<String, String> {
        self.call.offer.tools.iter().map(|tool| (tool.name.clone(), definition_hash(tool))).collect()
    }

    pub(super) fn as_grants_see_it<'s>(
        &'s self,
        context: &'s CallContext,
        all_tools: &'s BTreeMap<String, String>,
    ) -> GrantSubject<'s> {
        GrantSubject {
            server: &self.call.tool.id.server,
            server_identity: self.identity,
            builtin: self.call.config().transport.builtin(),
            tool: &self.call.tool.id.tool,
            definition: &self.checks.definition,
            arguments: &self.arguments,
            folder: context.folder(),
            mode: self.mode,
            all_tools,
        }
    }

    /// What it would change in a file, when that can be told. The file is read where waiting holds nothing up.
    pub(super) async fn edit(&self, context: &CallContext) -> Option<Edit> {
        self.call.config().transport.builtin()?;
        let (tool, arguments) = (self.call.tool.id.tool.clone(), self.call.arguments.clone());
        let folders = context.folders();
        tokio::task::spawn_blocking(move || edit_of(&tool, &arguments, &folders)).await.ok().flatten()
    }

    /// Decides.
    pub(super) fn judge(&self, context: &CallContext) -> Verdict {
        let folders = context.folders();
        let arguments = self.seen_arguments(context, &folders);
        if let Some(denied) = self.filtered(&arguments) {
            return denied;
        }
        self.with_facts(context, &arguments, |facts, covering| {
            let verdict = context.rules.permissions.decide(facts);
            self.checked(context, facts, told_of_suspended(covering, verdict))
        })
    }

    /// Decides, and says how it came to that.
    pub(super) fn explain(&self, context: &CallContext) -> Explanation {
        let folders = context.folders();
        let arguments = self.seen_arguments(context, &folders);
        let mut explanation = self.with_facts(context, &arguments, |facts, covering| {
            let mut explanation = context.rules.permissions.explain(facts);
            explanation.verdict = self.checked(context, facts, told_of_suspended(covering, explanation.verdict));
            explanation
        });
        if let Some(denied) = self.filtered(&arguments) {
            explanation.verdict = denied;
        }
        explanation
    }

    /// The arguments, with where their relative paths start.
    fn seen_arguments<'s>(&'s self, context: &'s CallContext, folders: &'s WorkspaceFolders) -> Arguments<'s> {
        let own_folder = match &self.call.config().transport {
            TransportConfig::Stdio(stdio) => stdio.cwd.as_deref(),
            _ => None,
        };
        let arguments = Arguments::new(&self.arguments).in_folder(own_folder.unwrap_or(context.folder()));
        let arguments = arguments.beside(folders.included());
        let arguments = match context.home() {
            Some(home) => arguments.at_home(home),
            None => arguments,
        };
        let is_shell = self.call.config().transport.builtin().is_some() && &*self.call.tool.id.tool == SHELL_TOOL;
        let leads_out = is_shell
            && (context.standing() == FolderStanding::Distrusted || look_guard::leads_out(&arguments, folders));
        if leads_out { arguments.leading_out() } else { arguments }
    }

    fn filtered(&self, arguments: &Arguments<'_>) -> Option<Verdict> {
        if let Some(why) = &self.misunderstood {
            let adjustments = vec![format!("the arguments can be understood in more than one way, or in none: {why}")];
            return Some(Verdict { decision: Decision::Deny, because: Because::NoRule, adjustments });
        }
        match self.call.offer.filter.judge(&self.call.tool.id.tool, arguments) {
            FilterVerdict::Permitted => None,
            FilterVerdict::Denied { list, entry, why } => {
                let origin = &self.call.config().origin;
                let label = entry.map_or_else(|| format!("`{list}`"), |entry| format!("`{entry}` in `{list}`"));
                let label = format!("{label} of server `{}`", self.call.tool.id.server);
                let file = origin.path.clone().map(std::sync::Arc::new);
                let because = Because::Filter(RuleOrigin { label, file, line: origin.line, name: None });
                Some(Verdict { decision: Decision::Deny, because, adjustments: vec![why] })
            }
        }
    }

    fn with_facts<T>(
        &self,
        context: &CallContext,
        arguments: &Arguments<'_>,
        look: impl FnOnce(&CallFacts<'_>, &Covering) -> T,
    ) -> T {
        let covering = match context.rules.lasting {
            Lasting::Never => Covering::None,
            Lasting::Session | Lasting::Always => context.grants().covering(&self.as_grants_see_it(context, &NO_TOOLS)),
        };
        let remembered = match &covering {
            Covering::Covered { grant, is_for_these_arguments } => {
                Some(Remembered { grant, is_for_these_arguments: *is_for_these_arguments })
            }
            _ if self.call.is_trusted == Some(true) => {
                Some(Remembered { grant: "the program trusts the tool", is_for_these_arguments: false })
            }
            _ => None,
        };
        let facts = CallFacts {
            server: &self.call.tool.id.server,
            builtin: self.call.config().transport.builtin(),
            tool: &self.call.tool.id.tool,
            arguments,
            annotations: &self.checks.annotations,
            mode: self.mode,
            presence: context.rules.presence,
            asker: self.call.asked_by,
            subagent: None,
            folder: context.folder(),
            folder_is_trusted: context.standing() == FolderStanding::Trusted,
            remembered,
        };
        look(&facts, &covering)
    }

    /// What the paths of a call say to a decision. They can only make it stricter.
    fn checked(&self, context: &CallContext, facts: &CallFacts<'_>, mut verdict: Verdict) -> Verdict {
        for checker in context.checkers().iter().filter(|checker| checker.rule.is_about(facts)) {
            if verdict.decision == Decision::Deny {
                break;
            }
            let Some((decision, why)) = allowed_path::check(checker, facts.arguments.value(), &context.folders())
            else {
                continue;
            };
            if decision > verdict.decision {
                let because = Because::Rule(Arc::new(checker.rule.clone()));
                verdict = Verdict { decision, because, adjustments: vec![why] };
            }
        }
        let guarded = guarded_path::check(self.call, &self.arguments, context);
        if let Some((decision, why)) = guarded.filter(|(decision, _)| *decision > verdict.decision) {
            verdict.decision = decision;
            verdict.adjustments.push(why);
        }
        if verdict.decision == Decision::Allow && self.is_permitted_by_a_borrowed_name(&verdict) {
            verdict.decision = Decision::Ask;
            let what = "a workspace folder put this server in place of your own one of that name";
            verdict.adjustments.push(what.to_owned());
        }
        if self.call.is_trusted == Some(false) && verdict.decision == Decision::Allow {
            verdict.decision = Decision::Ask;
            verdict.adjustments.push("the program does not trust the tool".to_owned());
        }
        if verdict.decision == Decision::Ask && facts.presence == Presence::Headless {
            verdict.decision = Decision::Deny;
            verdict.adjustments.push("nobody can be asked".to_owned());
        }
        verdict
    }
}

impl Subject<'_> {
    /// Whether a rule about servers by their names permits it, and the name is not the server's own.
    fn is_permitted_by_a_borrowed_name(&self, verdict: &Verdict) -> bool {
        let is_by_name = match &verdict.because {
            Because::Rule(rule) => matches!(rule.server, ServerPattern::Named(_)),
            Because::Filter(_) | Because::Remembered(_) | Because::NoRule => false,
        };
        is_by_name && self.call.config().replaces_own
    }
}

/// What was allowed before and does not count any more is no riddle.
fn told_of_suspended(covering: &Covering, mut verdict: Verdict) -> Verdict {
    if let (Covering::Suspended { grant, why }, Decision::Ask | Decision::Deny) = (covering, verdict.decision) {
        verdict.adjustments.push(format!("what you allowed before (grant {grant}) does not count: {why}"));
    }
    verdict
}

/// What would be decided about a call, and why.
pub(crate) fn explain(context: &CallContext, call: &PreparedCall) -> Explanation {
    Subject::of(call, context).explain(context)
}

static NO_TOOLS: BTreeMap<String, String> = BTreeMap::new();

/// Why a tool is not to be shown: no call of it would be let through.
pub(crate) fn why_hidden(context: &CallContext, catalog: &Catalog, tool: &CatalogTool) -> Option<String> {
    let config = catalog.offer_of(tool)?.line.config();
    let annotations = tool.annotations().and_then(|raw| raw.value_within(CHECKED_PARTS_MAX).ok()).unwrap_or_default();
    let facts = ToolFacts {
        server: &tool.id.server,
        builtin: config.transport.builtin(),
        tool: &tool.id.tool,
        annotations: &annotations,
        mode: context.mode(),
        presence: context.rules.presence,
        asker: Asker::Model,
        subagent: None,
        remembered: None,
    };
    if context.rules.permissions.visible(&facts) || is_shown_as_granted(context, config, tool, facts) {
        return None;
    }
    let nothing = Value::Object(serde_json::Map::new());
    let arguments = Arguments::new(&nothing);
    let call = CallFacts { folder: context.folder(), ..facts.call(&arguments) };
    let verdict = context.rules.permissions.decide(&call);
    Some(verdict.to_string())
}

/// Whether what was allowed before covers some call of a tool that is hidden otherwise.
fn is_shown_as_granted(context: &CallContext, config: &ServerConfig, tool: &CatalogTool, facts: ToolFacts<'_>) -> bool {
    let nothing = Value::Null;
    let covers = context.rules.lasting != Lasting::Never
        && context.grants().covers_some_call(&GrantSubject {
            server: facts.server,
            server_identity: &identity(config),
            builtin: facts.builtin,
            tool: facts.tool,
            definition: &definition_hash(&tool.tool),
            arguments: &nothing,
            folder: context.folder(),
            mode: facts.mode,
            all_tools: &NO_TOOLS,
        });
    let remembered = Remembered { grant: "", is_for_these_arguments: true };
    covers && context.rules.permissions.visible(&ToolFacts { remembered: Some(remembered), ..facts })
}
