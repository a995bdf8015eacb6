import type { NamedAlertRule } from '../../api/types.gen.ts';
import { alertRules as words } from '../../text/en/alert-rules.ts';
import { OutcomeTag } from '../../ui/index.ts';

export type Scope = keyof typeof words.scopes;

export const scopeOf = ({
  agent_id,
  schedule_id,
}: Pick<NamedAlertRule, 'agent_id' | 'schedule_id'>): Scope =>
  schedule_id !== null ? 'schedule' : agent_id !== null ? 'agent' : 'workspace';

/** What a rule is for, in words. */
export const appliesTo = ({ agent, schedule }: Pick<NamedAlertRule, 'agent' | 'schedule'>): string => {
  if (schedule) return words.ofSchedule(schedule.name);
  return agent ? words.ofAgent(agent.name) : words.workspace;
};

/** A rule that is off and narrower than that of the workspace mutes. */
export const RuleTag = ({ rule }: { rule: NamedAlertRule }) => {
  if (rule.enabled) return <OutcomeTag kind="on-time">{words.on}</OutcomeTag>;
  return <OutcomeTag kind="skipped">{scopeOf(rule) === 'workspace' ? words.off : words.mutes}</OutcomeTag>;
};
