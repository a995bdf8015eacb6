import type { CreateApiKeyBody } from '../../api/types.gen.ts';

type Scope = NonNullable<CreateApiKeyBody['scopes']>[number];

export const scopes = [
  'telemetry',
  'telemetry:read',
  'work_items',
  'work_items:read',
  'schedules',
  'schedules:read',
  'agents',
  'agents:read',
  'evaluations',
  'evaluations:read',
  'conversations',
  'conversations:read',
  'observability',
  'observability:read',
  'llm',
  'llm:read',
  'data',
  'data:read',
  'settings',
  'settings:read',
  'access',
  'access:read',
  'audit',
  'audit:read',
  'workspace',
  'workspace:read',
] as const satisfies readonly Scope[];
