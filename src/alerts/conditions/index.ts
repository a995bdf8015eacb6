import type { AlertKind } from '../kinds.ts';
import { budget } from './budget.ts';
import type { Condition } from './condition.ts';
import { failing } from './failing.ts';
import { integration } from './integration.ts';
import { late } from './late.ts';
import { missed } from './missed.ts';
import { noScheduler } from './no-scheduler.ts';
import { toolServer } from './tool-server.ts';
import { trigger } from './trigger.ts';
import { waiting } from './waiting.ts';

export const conditions: Readonly<Record<AlertKind, Condition>> = {
  missed,
  late,
  failing,
  waiting,
  integration,
  tool_server: toolServer,
  budget,
  trigger,
  no_scheduler: noScheduler,
};
