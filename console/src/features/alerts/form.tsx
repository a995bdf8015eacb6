import { ApiProblem } from '../../api/index.ts';
import { alertRules as kinds } from '../../api/kinds.gen.ts';
import type { NamedAlertRule } from '../../api/types.gen.ts';
import { describeForm } from '../../resource/describe-form.ts';
import { choice, type Field, flag, numeric, optionalChoice, text } from '../../resource/fields.tsx';
import { AgentSelect } from '../../resource/index.ts';
import { alertRules as words } from '../../text/en/alert-rules.ts';
import { alerts } from '../../text/en/alerts.ts';
import { common } from '../../text/en/common.ts';
import { optionsOf, Select } from '../../ui/index.ts';
import { type Scope, scopeOf } from './rules.tsx';
import { ScheduleSelect } from './ScheduleSelect.tsx';

type Kind = NamedAlertRule['kind'];

const params = [
  'grace_seconds',
  'seconds',
  'failures',
  'of',
  'percent',
  'minutes',
  'at_least',
  'unread',
] as const;
type Param = (typeof params)[number];

interface RuleValues extends Record<Param, number | null> {
  kind: Kind;
  name: string;
  scope: Scope;
  agent_id: string | null;
  schedule_id: string | null;
  severity: NamedAlertRule['severity'];
  enabled: boolean;
}

/** What each kind has unless a rule says otherwise, and what narrower rules of it are for. */
const facts: Readonly<Record<Kind, { severity: RuleValues['severity']; narrower: readonly Scope[] }>> = {
  missed: { severity: 'error', narrower: ['agent', 'schedule'] },
  late: { severity: 'warning', narrower: ['agent', 'schedule'] },
  failing: { severity: 'error', narrower: ['agent', 'schedule'] },
  waiting: { severity: 'warning', narrower: ['agent'] },
  integration: { severity: 'error', narrower: [] },
  tool_server: { severity: 'warning', narrower: [] },
  budget: { severity: 'warning', narrower: [] },
  trigger: { severity: 'error', narrower: [] },
  no_scheduler: { severity: 'error', narrower: [] },
};

/** Defaults that the document of the API has in words only, because they depend on each other. */
const failing = { failures: 3, of: 5, minutes: 60, at_least: 10 } as const;

/** The parameters of a new rule of the kind. */
const paramsOf = (kind: Kind): Record<Param, number | null> => {
  const defaults: { readonly [K in Param]?: number } =
    kind === 'failing' ? { failures: failing.failures, of: failing.of } : kinds[kind].defaults;
  return Object.fromEntries(params.map((name) => [name, defaults[name] ?? null])) as Record<
    Param,
    number | null
  >;
};

const first = 'missed';

/** Agents that fail are counted in one of two ways. */
const byShare = ({ kind, percent }: RuleValues): boolean => kind !== 'failing' || percent !== null;
const byNumber = ({ percent }: RuleValues): boolean => percent === null;

/** The field for what a rule is for: only what its kind takes. */
const scopeField: Field<Scope, RuleValues> = {
  ...choice<Scope, RuleValues>('workspace', words.scopes, {
    hint: words.scopeHint,
    required: true,
    when: ({ kind }) => facts[kind].narrower.length > 0,
    read: (read) =>
      scopeOf({
        agent_id: read('agent_id') as string | null,
        schedule_id: read('schedule_id') as string | null,
      }),
  }),
  control: ({ onChange, ...props }, { kind }) => (
    <Select
      {...props}
      onChange={(value) => onChange(value as Scope)}
      options={optionsOf(words.scopes).filter(
        ({ value }) => value === 'workspace' || facts[kind].narrower.includes(value),
      )}
    />
  ),
};

const ruleForm = describeForm<RuleValues, NamedAlertRule, 'createAlertRule', 'updateAlertRule', 'params'>(
  {
    words,
    kinds,
    kindOf: ({ kind }) => kind,
    inside: 'params',
    paths: { scope: null },
    rows: [
      ['failures', 'of'],
      ['minutes', 'at_least', 'unread'],
    ],
  },
  {
    kind: choice(first, alerts.kinds, {
      hint: ({ kind }) => words.kindHints[kind],
      fixed: true,
      also: (kind, { scope }) => ({
        ...paramsOf(kind),
        severity: facts[kind].severity,
        scope: facts[kind].narrower.includes(scope) ? scope : 'workspace',
      }),
    }),
    name: text({ label: common.name, required: true }),
    scope: scopeField,
    agent_id: {
      ...optionalChoice<RuleValues>({}, { required: true, chosen: ({ scope }) => scope === 'agent' }),
      control: (props) => <AgentSelect {...props} none={words.noAgentMatches} />,
    },
    schedule_id: {
      ...optionalChoice<RuleValues>({}, { required: true, chosen: ({ scope }) => scope === 'schedule' }),
      control: (props) => <ScheduleSelect {...props} />,
    },
    grace_seconds: numeric({ hint: words.hints.grace_seconds }),
    seconds: numeric({
      hint: ({ kind }) => (kind === 'late' ? words.hints.late : words.hints.no_scheduler),
    }),
    failures: numeric({ hint: words.hints.failures, when: byNumber }),
    of: numeric({ hint: words.hints.of, when: byNumber }),
    percent: numeric({ hint: ({ kind }) => (kind === 'budget' ? words.hints.budget : words.hints.share) }),
    minutes: numeric({
      hint: ({ kind }) => words.hints.minutes[kind as keyof typeof words.hints.minutes],
      when: byShare,
    }),
    at_least: numeric({ hint: words.hints.at_least(failing.at_least), when: byShare }),
    unread: numeric({ hint: words.hints.unread }),
    severity: choice(facts[first].severity, alerts.severities),
    enabled: flag(true, {
      fixed: true,
      hint: ({ enabled, scope }) => (enabled ? words.enabledHint : words.mutesHint[scope]),
    }),
  },
);

/** Throws the fault of a rule for one thing that does not say which: it would be a rule of the workspace. */
const checkSubject = ({ scope, agent_id, schedule_id }: RuleValues): void => {
  const missing =
    scope === 'agent' && agent_id === null
      ? { path: 'agent_id', message: words.agentNeeded }
      : scope === 'schedule' && schedule_id === null
        ? { path: 'schedule_id', message: words.scheduleNeeded }
        : null;
  if (missing) throw new ApiProblem(422, { code: 'unprocessable_entity', details: [missing] });
};

export const alertRuleForm = {
  ...ruleForm,
  create: {
    ...ruleForm.create,
    toBody: (values: RuleValues) => {
      checkSubject(values);
      return ruleForm.create.toBody(values);
    },
  },
  edit: {
    ...ruleForm.edit,
    toBody: (values: RuleValues, before: RuleValues) => {
      checkSubject(values);
      return ruleForm.edit.toBody(values, before);
    },
  },
};
