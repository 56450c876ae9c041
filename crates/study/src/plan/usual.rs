//! What a setting is where nothing changes it.

use super::Plan;
use serde_json::Value;

impl Plan {
    /// A setting's value under configurations, or its values where they differ; nothing where none has it.
    pub(super) fn usual(&self, setups: &[usize], setting: &str) -> String {
        let machines = setups
            .iter()
            .filter_map(|&s| self.setups[s].machine.as_ref());
        let mut values: Vec<String> = machines
            .filter_map(|machine| {
                let all = serde_json::to_value(machine.as_ref()).unwrap_or_default();
                value(&all, setting)
            })
            .collect();
        let mut seen = std::collections::HashSet::new();
        values.retain(|v| seen.insert(v.clone()));
        values.join(" or ")
    }
}

/// A setting's value in a machine; that of a mechanism's parameter only where the machine has this mechanism.
fn value(machine: &Value, setting: &str) -> Option<String> {
    let found = setting.split('.').try_fold(machine, |v, k| match v.get(k) {
        Some(found) => Some(found),
        // `gating.blackout.wake_up` is `wake_up` where `gating` is `blackout`.
        None => (v.get("name")?.as_str()? == k).then_some(v),
    });
    Some(match found? {
        Value::String(text) => text.clone(),
        // A policy with its parameters: its name says enough.
        Value::Object(table) => table.get("name")?.as_str()?.to_string(),
        Value::Null => "none".into(),
        other => other.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_mechanisms_parameter_is_there_where_the_mechanism_is() {
        let machine =
            json!({ "gating": { "name": "blackout", "wake_up": 3 }, "l2": { "latency": 120 } });
        let value = |setting: &str| value(&machine, setting);
        assert_eq!(value("l2.latency").as_deref(), Some("120"));
        assert_eq!(value("gating").as_deref(), Some("blackout"));
        assert_eq!(value("gating.wake_up").as_deref(), Some("3"));
        assert_eq!(value("gating.blackout.wake_up").as_deref(), Some("3"));
        assert_eq!(value("gating.conventional.wake_up"), None);
    }
}
