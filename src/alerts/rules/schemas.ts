import { z } from 'zod';
import { id, optional, pageOf, timestamp } from '../../http/index.ts';
import { alertKinds } from '../../lib/announcer.ts';
import { severities } from '../../lib/attention.ts';
import { type AlertKind, kindFacts } from '../kinds.ts';
import { fields } from './fields.ts';
import { changedParams, type ParamsOf, paramsDefault, paramsOf } from './params.ts';
import { alertRules } from './store.ts';

const { create, patch, shown } = alertRules;

/** The body that creates a rule of the kind. */
const createOf = <K extends AlertKind>(kind: K, name: string) =>
  z
    .object({
      name: create.name,
      kind: z.literal(kind),
      enabled: create.enabled,
      severity: optional(z.enum(severities), kindFacts[kind].severity),
      params: optional(paramsOf[kind], paramsDefault(kind)) as unknown as z.ZodType<ParamsOf<K>>,
      agent_id: create.agent_id,
      schedule_id: create.schedule_id,
    })
    .meta({ id: `Create${name}AlertRule` });

export const createBody = z
  .discriminatedUnion('kind', [
    createOf('missed', 'Missed'),
    createOf('late', 'Late'),
    createOf('failing', 'Failing'),
    createOf('waiting', 'Waiting'),
    createOf('integration', 'Integration'),
    createOf('tool_server', 'ToolServer'),
    createOf('budget', 'Budget'),
    createOf('trigger', 'Trigger'),
    createOf('no_scheduler', 'NoScheduler'),
  ])
  .meta({ id: 'CreateAlertRuleBody' });

export const updateBody = z
  .object({
    name: patch.name,
    kind: z.string().optional().describe('Cannot be changed.'),
    enabled: patch.enabled,
    severity: patch.severity,
    params: changedParams,
    agent_id: patch.agent_id,
    schedule_id: patch.schedule_id,
  })
  .meta({ id: 'UpdateAlertRuleBody' });

export const publicAlertRule = z
  .object({
    id,
    name: shown.name,
    kind: z.enum(alertKinds),
    enabled: shown.enabled,
    severity: shown.severity,
    params: shown.params,
    agent_id: shown.agent_id,
    schedule_id: shown.schedule_id,
    created_at: timestamp.describe('What happened before does not count.'),
    updated_at: timestamp,
  })
  .meta({ id: 'AlertRule' });

export const alertRulePage = pageOf('AlertRulePage', publicAlertRule);

/** Alert rules in a workspace document. */
export const form = { fields, body: createBody, patch: updateBody };
