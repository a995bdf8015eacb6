import { useState } from 'react';
import type { PublicTrigger } from '../../../api/types.gen.ts';
import { DeleteButton } from '../../../resource/index.ts';
import { to } from '../../../routing/to.ts';
import { common } from '../../../text/en/common.ts';
import { triggerDetail as words } from '../../../text/en/trigger-detail.ts';
import { triggers } from '../../../text/en/triggers.ts';
import { Button, ButtonLink, CopyButton, useDisabledReason } from '../../../ui/index.ts';
import { PauseDialog } from '../shared/PauseDialog.tsx';
import { paramsOf } from '../shared/params.ts';
import { useResume } from '../shared/use-resume.ts';
import css from './detail.module.css';
import { RotateDialog } from './RotateDialog.tsx';

const Pause = ({ trigger }: { trigger: PublicTrigger }) => {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button disabledReason={useDisabledReason('pauseTrigger')} onClick={() => setOpen(true)}>
        {triggers.pause}
      </Button>
      {open && <PauseDialog trigger={trigger} onClose={() => setOpen(false)} />}
    </>
  );
};

const Resume = ({ trigger }: { trigger: PublicTrigger }) => {
  const resume = useResume();
  const mayResume = useDisabledReason('resumeTrigger');
  return (
    <Button busy={resume.busy} disabledReason={mayResume} onClick={() => void resume.run(trigger)}>
      {triggers.resume}
    </Button>
  );
};

export const Actions = ({ trigger, etag }: { trigger: PublicTrigger; etag: string | null }) => {
  const [rotating, setRotating] = useState(false);
  const { agent_id: agentId, id: triggerId, url, settings, enabled } = trigger;
  const mayRotate = useDisabledReason('rotateTriggerSecret');
  return (
    <>
      <span className={css.quiet}>
        <DeleteButton
          operation="deleteTrigger"
          params={paramsOf(trigger)}
          etag={etag}
          title={triggers.deleteTrigger}
          action={common.delete}
          deleted={triggers.deleted(trigger.name)}
          opens={to('/triggers')}
          disabledReason={useDisabledReason('deleteTrigger')}
        >
          <p>{triggers.deleteMore[trigger.kind]}</p>
        </DeleteButton>
        {settings.scheme !== undefined && settings.scheme !== 'none' && (
          <Button kind="quiet" disabledReason={mayRotate} onClick={() => setRotating(true)}>
            {words.rotate}
          </Button>
        )}
      </span>
      {url !== null && <CopyButton label={words.copyAddress} value={url} />}
      {enabled ? <Pause trigger={trigger} /> : <Resume trigger={trigger} />}
      <ButtonLink
        href={to('/agents/$agentId/triggers/$triggerId/edit', { agentId, triggerId })}
        disabledReason={useDisabledReason('replaceTrigger')}
      >
        {common.edit}
      </ButtonLink>
      {rotating && <RotateDialog trigger={trigger} onClose={() => setRotating(false)} />}
    </>
  );
};
