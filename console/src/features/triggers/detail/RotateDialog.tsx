import { useState } from 'react';
import { perform, useAction, useUnsaved } from '../../../api/index.ts';
import type { PublicTrigger } from '../../../api/types.gen.ts';
import { triggerDetail as words } from '../../../text/en/trigger-detail.ts';
import { ActionDialog, notify, optionsOf, SecretField, Select } from '../../../ui/index.ts';
import { paramsOf } from '../shared/params.ts';
import { SecretDialog } from '../shared/SecretDialog.tsx';

/** Gives a trigger another secret: one that is typed, or one that is generated and shown this once. */
export const RotateDialog = ({ trigger, onClose }: { trigger: PublicTrigger; onClose: () => void }) => {
  const [secret, setSecret] = useState<string | null>('');
  const [overlap, setOverlap] = useState('86400');
  const [generated, setGenerated] = useState<string | null>(null);
  // Slack and Stripe make the secret themselves.
  const isGiven = trigger.settings.scheme === 'slack' || trigger.settings.scheme === 'stripe';
  const action = useAction(async () => {
    const given = secret?.trim() ? { secret: secret.trim() } : {};
    const body = { overlap_seconds: Number(overlap), ...given };
    const rotated = await perform('rotateTriggerSecret', paramsOf(trigger), { body, ifMatch: null });
    if (rotated.body.secret !== undefined) return setGenerated(rotated.body.secret);
    notify(words.rotated);
    onClose();
  });
  useUnsaved(() => secret !== '' && generated === null && !action.busy);
  if (generated !== null)
    return <SecretDialog title={words.rotate} trigger={trigger} secret={generated} onClose={onClose} />;
  return (
    <ActionDialog open onClose={onClose} title={words.rotate} act={action}>
      <p>{words.rotateText}</p>
      <SecretField
        label={words.newSecret}
        value={secret}
        onChange={setSecret}
        set={false}
        hint={isGiven ? words.newSecretGiven : words.newSecretHint}
        required={isGiven}
      />
      <Select
        label={words.overlap}
        hint={words.overlapHint}
        value={overlap}
        onChange={(value) => setOverlap(value ?? '0')}
        options={optionsOf(words.overlaps)}
      />
    </ActionDialog>
  );
};
