import type { Tx } from '../database/index.ts';
import { newId } from '../lib/ids.ts';
import { counted, isolate } from '../lib/prose.ts';
import type { Settings } from '../settings/index.ts';
import type { AlertChanges } from './alerts.ts';
import { type Condition, type Finding, mostFound, type Open } from './conditions/condition.ts';
import { conditions } from './conditions/index.ts';
import type { AlertKind } from './kinds.ts';
import type { RulesOfKind } from './rules/narrowest.ts';
import type { AlertRule } from './rules/store.ts';
import { type KnownAlert, type Member, type NewAlert, updateCauses, updateMembers } from './store.ts';

/** More subjects of a rule at once are one alert. */
const mostAlerts = 100;
/** So many names are in the detail of that. */
const mostNames = 20;

interface Evaluation {
  tx: Tx;
  kind: AlertKind;
  rules: RulesOfKind;
  /** Its alerts that fire, and those that were resolved since. */
  known: readonly KnownAlert[];
  /** Milliseconds since 1970: now, and the time since when events may not have been seen. */
  now: number;
  since: number;
  settings: Settings;
  changes: AlertChanges;
}

/** A subject of an alert that fires, and its alert. */
interface OpenSubject extends Open {
  alert: KnownAlert;
  /** Its place in an alert about many. */
  member: Member | null;
}

const keyOf = (ruleId: string, subjectId: string | undefined): string => `${ruleId} ${subjectId ?? ''}`;

/** The subjects of alerts that fire: those whose rule still is the narrowest, and those whose rule is not. */
const subjectsOf = (alerts: readonly KnownAlert[], condition: Condition, { rules }: Evaluation) => {
  const open: OpenSubject[] = [];
  const unruled: OpenSubject[] = [];
  const add = (alert: KnownAlert, member: Member | null): void => {
    const subject = member
      ? { id: member.id, name: member.name, agentId: member.agent_id }
      : { id: alert.subject_id ?? '', name: alert.subject_name ?? '', agentId: alert.agent_id };
    const rule = condition.ruleFor(rules, subject, alert.subject_type);
    const isRuled = rule?.id === alert.rule_id;
    const one = { ...subject, rule: rule as AlertRule, cause: member?.at ?? alert.cause, alert, member };
    (isRuled ? open : unruled).push(one);
  };
  for (const alert of alerts) {
    if (alert.members === null) add(alert, null);
    else for (const member of alert.members) if (!member.over) add(alert, member);
  }
  return { open, unruled };
};

/** Returns whether an alert was fired for this event, or a later one, of the subject already. */
const isCovered = ({ rule, subject, cause }: Finding, known: readonly KnownAlert[]): boolean =>
  known.some(
    (alert) =>
      alert.rule_id === rule.id &&
      (alert.members === null
        ? alert.subject_id === (subject?.id ?? null) && alert.cause >= cause
        : alert.members.some(({ id, at }) => id === subject?.id && at >= cause)),
  );

const memberOf = ({ subject, cause }: Finding): Member => ({
  id: subject!.id,
  name: subject!.name,
  agent_id: subject!.agentId,
  at: cause,
  over: false,
});

/** What an alert about these says. */
const togetherOf = (condition: Condition, members: readonly Member[]) => {
  const n = members.length;
  const names = members.slice(0, mostNames).map(({ name }) => isolate(name));
  const more = n > names.length ? `, and ${counted(n - names.length, 'more').replace(/s$/, '')}` : '';
  return {
    count: n,
    title: condition.together(counted(n, condition.noun, mostFound)),
    detail: `They are ${names.join(', ')}${more}.`,
  };
};

const newAlert = (condition: Condition, finding: Finding, kind: AlertKind): NewAlert => {
  const { rule, subject, cause, title, detail, forAdmins = false } = finding;
  const { id = null, name = null, agentId = null } = subject ?? {};
  return {
    id: newId(),
    rule_id: rule.id,
    kind,
    severity: rule.severity,
    subject_type: subject && condition.subjectOf(rule),
    subject_id: id,
    subject_name: name,
    agent_id: agentId,
    count: 1,
    title,
    detail,
    for_admins: forAdmins,
    cause_at: new Date(cause),
    members: null,
  };
};

const newShared = (condition: Condition, findings: readonly Finding[], kind: AlertKind): NewAlert => {
  const [{ rule }] = findings as [Finding];
  const members = findings.slice(0, mostFound).map(memberOf);
  return {
    id: newId(),
    rule_id: rule.id,
    kind,
    severity: rule.severity,
    subject_type: null,
    subject_id: null,
    subject_name: null,
    agent_id: rule.agent_id,
    ...togetherOf(condition, members),
    for_admins: findings.some(({ forAdmins }) => forAdmins),
    cause_at: new Date(Math.max(...members.map(({ at }) => at))),
    members,
  };
};

/**
 * Brings the alerts of a kind up to date: fires one for each rule and subject, one for all of a rule if they are many, and
 * resolves those that are over. An alert is never resolved by the look that fires it.
 */
export const evaluate = async (evaluation: Evaluation): Promise<void> => {
  const { tx, kind, rules, known, now, since, settings, changes } = evaluation;
  const condition = conditions[kind];
  const firing = known.filter(({ state }) => state === 'firing');
  const isIdle = rules.enabled.length === 0;
  if (isIdle && firing.length === 0) return;
  const { open, unruled } = subjectsOf(firing, condition, evaluation);
  const look = { tx, now, since, rules, open, settings };
  const findings = isIdle ? [] : await condition.find(look);
  const found = new Map(findings.map((finding) => [keyOf(finding.rule.id, finding.subject?.id), finding]));

  // Events go on while an alert fires; it is over by what comes after the last of them.
  const later = new Set<OpenSubject>();
  for (const one of condition.isOfEvents ? open : []) {
    const cause = found.get(keyOf(one.rule.id, one.id))?.cause ?? 0;
    if (cause <= one.cause) continue;
    one.cause = cause;
    later.add(one);
  }
  const over = new Set<Open>([
    ...unruled,
    ...(condition.over
      ? await condition.over(look, findings)
      : open.filter(({ rule, id }) => !found.has(keyOf(rule.id, id)))),
  ]);

  const isOpen = new Set(open.map(({ rule, id }) => keyOf(rule.id, id)));
  const fresh = [...found].flatMap(([key, finding]) =>
    isOpen.has(key) || (condition.isOfEvents && isCovered(finding, known)) ? [] : [finding],
  );
  const freshOf = Map.groupBy(fresh, ({ rule }) => rule.id);

  await updateCauses(
    tx,
    [...later].filter(({ member }) => !member).map(({ alert, cause }) => ({ id: alert.id, cause })),
  );
  const resolved = [...open, ...unruled]
    .filter((one) => !one.member && over.has(one))
    .map(({ alert }) => alert.id);
  const added: NewAlert[] = [];
  const subjects = Map.groupBy([...open, ...unruled], ({ alert }) => alert.id);

  for (const alert of firing) {
    if (alert.members === null) continue;
    const own = subjects.get(alert.id) ?? [];
    const staying = own
      .filter((one) => !over.has(one))
      .map(({ member, cause }) => ({ ...member!, at: cause }));
    const joining = (freshOf.get(alert.rule_id) ?? []).map(memberOf).slice(0, mostFound - staying.length);
    freshOf.delete(alert.rule_id);
    const members = [...staying, ...joining];
    // Kept while the same event may be seen again.
    const left = [
      ...alert.members.filter((one) => one.over),
      ...own
        .filter((one) => over.has(one))
        .map(({ member, cause }) => ({ ...member!, at: cause, over: true })),
    ].filter(({ at }) => at > since);
    const isChanged = joining.length > 0 || own.some((one) => over.has(one) || later.has(one));
    if (members.length === 0) resolved.push(alert.id);
    if (!isChanged) continue;
    // One that is over says what it was about.
    const said = members.length > 0 ? members : own.map(({ member }) => member!);
    await updateMembers(tx, alert.id, { members: [...members, ...left], ...togetherOf(condition, said) });
  }
  for (const [ruleId, some] of freshOf) {
    const others = open.filter((one) => one.rule.id === ruleId && !over.has(one)).length;
    if (others + some.length > mostAlerts) added.push(newShared(condition, some, kind));
    else added.push(...some.map((finding) => newAlert(condition, finding, kind)));
  }
  await changes.resolve(tx, resolved);
  await changes.fire(tx, added);
};
