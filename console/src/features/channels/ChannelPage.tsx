import { useParams } from '@tanstack/react-router';
import { listPolling, perform, useAction, useEditForm, useOperation } from '../../api/index.ts';
import type { Channel } from '../../api/types.gen.ts';
import { DetailPage, EditForm, FormFields } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { channels as words } from '../../text/en/channels.ts';
import { pages } from '../../text/en/pages.ts';
import {
  Button,
  Columns,
  CopyValue,
  LinkList,
  Muted,
  notify,
  Section,
  TestSteps,
  useDisabledReason,
} from '../../ui/index.ts';
import { channelForm } from './form.tsx';
import { StateSentence } from './state.tsx';

/** Changes a channel. Secrets that are not replaced stay. */
const Settings = ({ channel, etag }: { channel: Channel; etag: string | null }) => {
  const edit = useEditForm({
    read: 'getChannel',
    change: 'updateChannel',
    params: { channel_id: channel.id },
    loaded: { body: channel, etag },
    ...channelForm.edit,
    disabledReason: useDisabledReason('updateChannel'),
  });
  return (
    <Section title={words.settings}>
      <EditForm edit={edit} {...channelForm.compare} onSaved={() => notify(words.saved)}>
        <FormFields of={channelForm} form={edit.form} exists />
      </EditForm>
    </Section>
  );
};

/** The address for clicks over HTTP, which someone enters in Slack. */
const Interactions = ({ url }: { url: string }) => (
  <Section title={words.interactions} note={words.interactionsNote}>
    <CopyValue value={url} mono />
  </Section>
);

/** The routes with a step to a channel. An installation has at most some hundred. */
const RoutesOf = ({ channelId, lead, none }: { channelId: string; lead?: string; none?: string }) => {
  const got = useOperation('listRoutes', {}, { query: { limit: 200 } });
  const routes = (got.data?.data ?? []).filter(({ steps }) =>
    steps.some(({ channel_id }) => channel_id === channelId),
  );
  if (routes.length === 0) return got.data && none && <Muted>{none}</Muted>;
  return (
    <>
      {lead && <p>{lead}</p>}
      <LinkList links={routes.map(({ id, name }) => ({ href: `/routes/${id}`, label: name }))} />
    </>
  );
};

/** One channel: whether it works, its test, and its settings. */
export const ChannelPage = () => {
  const { channelId } = useParams({ from: '/shell/channels/$channelId' });
  const params = { channel_id: channelId };
  const got = useOperation('getChannel', params, { every: listPolling(false) });
  const toggle = useAction(async (enabled: boolean) => {
    await perform('updateChannel', params, { body: { enabled }, ifMatch: null });
    notify(enabled ? words.turnedOn : words.turnedOff);
  });
  const mayChange = useDisabledReason('updateChannel');
  return (
    <DetailPage
      got={got}
      operation="getChannel"
      kind={pages.channel}
      name={({ name }) => name}
      list={{ label: pages.channels, href: to('/channels') }}
      id={channelId}
      lead={(channel) => <StateSentence channel={channel} />}
      removal={{
        operation: 'deleteChannel',
        params,
        words,
        text: () => (
          <>
            <p>{words.deleteText}</p>
            <RoutesOf channelId={channelId} lead={words.deleteUsed} />
          </>
        ),
      }}
      actions={({ enabled }) => (
        <Button busy={toggle.busy} disabledReason={mayChange} onClick={() => void toggle.run(!enabled)}>
          {enabled ? words.turnOff : words.turnOn}
        </Button>
      )}
      test={{
        operation: 'testChannel',
        params,
        show: (result) => <TestSteps words={words} result={result} />,
      }}
      problem={toggle.error}
    >
      {(channel) => (
        <Columns
          side={
            <>
              {channel.kind === 'slack' && channel.interactions_url && (
                <Interactions url={channel.interactions_url} />
              )}
              <Section title={words.routes}>
                <RoutesOf channelId={channelId} none={words.noRoutes} />
              </Section>
            </>
          }
        >
          <Settings channel={channel} etag={got.etag} />
        </Columns>
      )}
    </DetailPage>
  );
};
