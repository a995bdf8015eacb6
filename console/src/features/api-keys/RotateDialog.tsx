import { useState } from 'react';
import { type Output, perform, useAction } from '../../api/index.ts';
import type { NamedApiKey } from '../../api/types.gen.ts';
import { apiKeys as words } from '../../text/en/api-keys.ts';
import { ActionDialog, optionsOf, Select } from '../../ui/index.ts';
import { KeyValue } from './KeyValue.tsx';

export const RotateDialog = ({ apiKey, onClose }: { apiKey: NamedApiKey; onClose: () => void }) => {
  const [overlap, setOverlap] = useState('86400');
  const [created, setCreated] = useState<Output<'rotateApiKey'> | null>(null);
  const action = useAction(async () => {
    // The value is shown once: if the response is lost, the second attempt gets it.
    const body = { overlap_seconds: Number(overlap) };
    setCreated((await perform('rotateApiKey', { api_key_id: apiKey.id }, { body })).body);
  });
  if (created) return <KeyValue title={words.rotate} created={created} onClose={onClose} />;
  return (
    <ActionDialog open onClose={onClose} title={words.rotate} act={action}>
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
