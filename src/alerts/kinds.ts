import type { alertKinds } from '../lib/announcer.ts';
import type { severities } from '../lib/attention.ts';

export type AlertKind = (typeof alertKinds)[number];

export type Severity = (typeof severities)[number];

/** What an alert can be about. */
export const subjectTypes = [
  'schedule',
  'agent',
  'work_item',
  'integration',
  'tool_server',
  'budget',
  'trigger',
] as const;
export type SubjectType = (typeof subjectTypes)[number];

interface KindFacts {
  severity: Severity;
  /** What a rule may be for, besides the workspace. */
  narrower: readonly ('agent_id' | 'schedule_id')[];
}

const bySchedule = ['agent_id', 'schedule_id'] as const;

export const kindFacts: Readonly<Record<AlertKind, KindFacts>> = {
  missed: { severity: 'error', narrower: bySchedule },
  late: { severity: 'warning', narrower: bySchedule },
  failing: { severity: 'error', narrower: bySchedule },
  waiting: { severity: 'warning', narrower: ['agent_id'] },
  integration: { severity: 'error', narrower: [] },
  tool_server: { severity: 'warning', narrower: [] },
  budget: { severity: 'warning', narrower: [] },
  trigger: { severity: 'error', narrower: [] },
  no_scheduler: { severity: 'error', narrower: [] },
};
