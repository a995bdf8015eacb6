import { z } from 'zod';
import { id, jsonObject, text } from '../../http/index.ts';
import { alertKinds } from '../../lib/announcer.ts';
import { severities } from '../../lib/attention.ts';
import { nullable, required, withDefault } from '../../resource/index.ts';
import { shownParams } from './params.ts';

/** The fields of an alert rule, each written once. Those of a body depend on its kind (`schemas.ts`). */
export const fields = {
  name: required(text(200, 1)),
  kind: required(z.enum(alertKinds)).fixed('Cannot be changed.'),
  enabled: withDefault(
    z
      .boolean()
      .describe(
        'A disabled rule fires nothing, and wider rules of the kind fire nothing for what it is about.',
      ),
    true,
  ),
  severity: required(z.enum(severities)),
  params: required(jsonObject).shownAs(shownParams).json(),
  agent_id: nullable(id.describe('The agent that it is about.')),
  schedule_id: nullable(
    id.describe('The schedule that it is about. Without both it is about the workspace.'),
  ),
};
