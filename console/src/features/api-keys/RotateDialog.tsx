import { useState } from 'react';
import { path, useAction, useCreate, useInvalidate } from '../../api/index.ts';
import type { CreatedApiKey, NamedApiKey } from '../../api/types.gen.ts';
import { apiKeys as words } from '../../text/en/api-keys.ts';
import { ActionDialog, optionsOf, Select } from '../../ui/index.ts';
import { KeyValue } from './KeyValue.tsx';

/** Makes a key in place of another, then shows its value. */
export const RotateDialog = ({ apiKey, onClose }: { apiKey: NamedApiKey; onClose: () => void }) => {
  const invalidate = useInvalidate();
  const create = useCreate();
  const [overlap, setOverlap] = useState('86400');
  const [created, setCreated] = useState<CreatedApiKey | null>(null);
  const action = useAction(async () => {
    // The value is shown once: if the response is lost, the second attempt gets it.
    const reply = await create<CreatedApiKey>(path`/api/v2/api-keys/${apiKey.id}/rotate`, {
      overlap_seconds: Number(overlap),
    });
    setCreated(reply.body);
    void invalidate('/app/api/api-keys');
  });
  if (created) return <KeyValue title={words.rotate} created={created} onClose={onClose} />;
  return (
    <ActionDialog
      open
      onClose={onClose}
      title={words.rotate}
      onConfirm={() => void action.run()}
      busy={action.busy}
      error={action.error}
    >
      <p>
        <b>{apiKey.name}</b> <code>{`${apiKey.prefix}…`}</code>
      </p>
      <p>{words.rotateText}</p>
      <Select
        label={words.overlap}
        value={overlap}
        onChange={(value) => setOverlap(value ?? '0')}
        options={optionsOf(words.overlaps)}
      />
    </ActionDialog>
  );
};
