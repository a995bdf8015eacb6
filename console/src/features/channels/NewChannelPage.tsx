import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type Output, perform, useForm } from '../../api/index.ts';
import { FormFields, SubmitForm } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { channels as words } from '../../text/en/channels.ts';
import { common } from '../../text/en/common.ts';
import { pages } from '../../text/en/pages.ts';
import {
  Bar,
  Callout,
  CopyButton,
  Dialog,
  notify,
  Page,
  TextField,
  useDisabledReason,
} from '../../ui/index.ts';
import { channelForm } from './form.tsx';

type Created = Output<'createChannel'>;

/** The secret that the platform made for a webhook, which is shown this once. Only its button closes it. */
const SecretDialog = ({ secret, onClose }: { secret: string; onClose: () => void }) => (
  <Dialog open wide onlyByButton onClose={onClose} title={words.create} closeLabel={common.done}>
    <Callout tone="look" title={words.secretOnce} />
    <TextField label={words.secret} value={secret} onChange={() => {}} mono />
    <Bar>
      <CopyButton value={secret} label={words.copySecret} kind="primary" />
    </Bar>
  </Dialog>
);

/** Makes a channel. Nothing is sent; its page has the test. */
export const NewChannelPage = () => {
  const navigate = useNavigate();
  const [made, setMade] = useState<{ channel: Created; secret: string } | null>(null);
  const open = ({ id }: Created) => navigate({ href: to('/channels/$channelId', { channelId: id }) });
  const form = useForm(
    channelForm.create.first,
    async (values) => {
      const { body } = await perform('createChannel', {}, { body: channelForm.create.toBody(values) });
      if ('secret' in body && body.secret !== undefined)
        return setMade({ channel: body, secret: body.secret });
      notify(words.created);
      return open(body);
    },
    { disabledReason: useDisabledReason('createChannel'), fieldOf: channelForm.create.fieldOf },
  );
  return (
    <Page title={pages.newChannel} crumbs={[{ label: pages.channels, href: to('/channels') }]}>
      {made ? (
        <SecretDialog secret={made.secret} onClose={() => void open(made.channel)} />
      ) : (
        <SubmitForm form={form} submit={words.create} discard={to('/channels')}>
          <FormFields of={channelForm} form={form} />
        </SubmitForm>
      )}
    </Page>
  );
};
