import { perform, useAction } from '../../../api/index.ts';
import type { PublicTrigger } from '../../../api/types.gen.ts';
import { triggers as words } from '../../../text/en/triggers.ts';
import { notify } from '../../../ui/index.ts';
import { paramsOf } from './params.ts';

/** The action that resumes a paused trigger: it asks nothing. */
export const useResume = () =>
  useAction(async (trigger: Pick<PublicTrigger, 'id' | 'agent_id' | 'name'>) => {
    await perform('resumeTrigger', paramsOf(trigger), { ifMatch: null });
    notify(words.resumed(trigger.name));
  });
