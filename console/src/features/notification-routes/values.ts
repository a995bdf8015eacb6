import type { Body } from '../../api/index.ts';
import type { Route } from '../../api/types.gen.ts';
import { readValue, valueText } from '../../resource/index.ts';

export type Purpose = Route['for'];
type Role = 'member' | 'builder' | 'admin';
export type Recipients = 'channel' | 'role' | 'people';

export interface StepValues {
  channel_id: string | null;
  to: Recipients;
  role: Role;
  user_ids: string[];
  after_minutes: number | null;
}

export interface ConditionValues {
  path: string;
  op: string;
  value: string;
}

export interface RouteValues {
  for: Purpose;
  name: string;
  enabled: boolean;
  position: number | null;
  agents: string[];
  sources: string[];
  kinds: string[];
  tools: string;
  severities: string[];
  conditions: ConditionValues[];
  steps: StepValues[];
  decide_role: Role | 'agent';
}

export const emptyStep: StepValues = {
  channel_id: null,
  to: 'channel',
  role: 'admin',
  user_ids: [],
  after_minutes: 0,
};

export const emptyCondition: ConditionValues = { path: '', op: 'eq', value: '' };

export const firstValues: RouteValues = {
  for: 'reviews',
  name: '',
  enabled: true,
  position: 100,
  agents: [],
  sources: ['work_item'],
  kinds: [],
  tools: '',
  severities: [],
  conditions: [],
  steps: [emptyStep],
  decide_role: 'agent',
};

const toStep = ({ channel_id, to, after_minutes }: Route['steps'][number]): StepValues => ({
  ...emptyStep,
  channel_id,
  after_minutes,
  ...(to === 'channel'
    ? {}
    : 'role' in to
      ? { to: 'role' as const, role: to.role }
      : { to: 'people' as const, user_ids: to.user_ids }),
});

export const toValues = (route: Route): RouteValues => {
  const match = route.match as Partial<
    Record<'sources' | 'agent_ids' | 'kinds' | 'tools' | 'severities', string[]>
  > & { conditions?: { path: string; op: string; value?: unknown }[] };
  return {
    for: route.for,
    name: route.name,
    enabled: route.enabled,
    position: route.position,
    agents: match.agent_ids ?? [],
    sources: match.sources ?? [],
    kinds: match.kinds ?? [],
    tools: (match.tools ?? []).join('\n'),
    severities: match.severities ?? [],
    conditions: (match.conditions ?? []).map(({ path, op, value }) => ({
      path,
      op,
      value: op === 'exists' ? '' : valueText(value),
    })),
    steps: route.steps.map(toStep),
    decide_role: route.decide_role ?? 'agent',
  };
};

/** An empty list stands for all, and is left out. */
const some = <T>(items: readonly T[]): readonly T[] | undefined => (items.length > 0 ? items : undefined);

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

const conditionOf = ({ path, op, value }: ConditionValues) =>
  op === 'exists' ? { path, op } : { path, op, value: readValue(value) ?? '' };

const stepOf = ({ channel_id, to, role, user_ids, after_minutes }: StepValues) => ({
  channel_id: channel_id ?? '',
  to: to === 'channel' ? to : to === 'role' ? { role } : { user_ids },
  after_minutes,
});

const isUntouched = (step: StepValues): boolean => JSON.stringify(step) === JSON.stringify(emptyStep);

/** Without the empty steps, if there are others. */
const stepsOf = (steps: readonly StepValues[]) => {
  const written = steps.filter((step) => !isUntouched(step));
  return (written.length > 0 ? written : steps).map(stepOf);
};

const matchOf = (values: RouteValues) => {
  const shared = { agent_ids: some(values.agents), kinds: some(values.kinds) };
  if (values.for === 'alerts') return { ...shared, severities: some(values.severities) };
  return {
    ...shared,
    sources: some(values.sources),
    tools: some(linesOf(values.tools)),
    conditions: some(values.conditions.map(conditionOf)),
  };
};

/** The body of a change. */
export const toChanges = (values: RouteValues): Body<'updateRoute'> =>
  ({
    name: values.name,
    enabled: values.enabled,
    position: values.position,
    match: matchOf(values),
    steps: stepsOf(values.steps),
    ...(values.for === 'reviews'
      ? { decide_role: values.decide_role === 'agent' ? null : values.decide_role }
      : {}),
  }) as Body<'updateRoute'>;

export const toBody = (values: RouteValues): Body<'createRoute'> =>
  ({ for: values.for, ...toChanges(values) }) as Body<'createRoute'>;

/** The field of a fault: `match.kinds` is `kinds` of the form. */
export const fieldOf = (path: string): string => {
  if (path.startsWith('match.agent_ids')) return path.replace('match.agent_ids', 'agents');
  return path.replace(/^match\./, '');
};
