import { perform, useAction, useUnsaved } from '../../../api/index.ts';
import type { PublicTrigger } from '../../../api/types.gen.ts';
import { useOptionalReason } from '../../../resource/index.ts';
import { triggers as words } from '../../../text/en/triggers.ts';
import { ActionDialog, notify, useDisabledReason } from '../../../ui/index.ts';
import { paramsOf } from './params.ts';

type Paused = Pick<PublicTrigger, 'id' | 'agent_id' | 'name' | 'kind'>;

/** Asks for the reason, and pauses a trigger. */
export const PauseDialog = ({ trigger, onClose }: { trigger: Paused; onClose: () => void }) => {
  const reason = useOptionalReason(words.reasonHint);
  const act = useAction(async () => {
    await perform('pauseTrigger', paramsOf(trigger), { body: reason.given, ifMatch: null });
    notify(words.paused(trigger.name));
    onClose();
  });
  useUnsaved(() => reason.isGiven && !act.busy);
  return (
    <ActionDialog
      open
      onClose={onClose}
      title={words.pauseTrigger}
      act={act}
      disabledReason={useDisabledReason('pauseTrigger')}
    >
      <p>{words.pauseMore[trigger.kind]}</p>
      {reason.field}
    </ActionDialog>
  );
};
