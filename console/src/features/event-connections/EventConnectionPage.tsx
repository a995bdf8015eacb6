import { useParams } from '@tanstack/react-router';
import { useEditForm, useOperation, usePermission } from '../../api/index.ts';
import type { PublicEventConnection } from '../../api/types.gen.ts';
import { DetailPage, EditForm, FormFields } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { eventConnections as words } from '../../text/en/event-connections.ts';
import { pages } from '../../text/en/pages.ts';
import { notify, permissionReason, Section } from '../../ui/index.ts';
import { ConnectionTestResult } from './ConnectionTestResult.tsx';
import { connectionForm, serversOf } from './form.ts';

/** Changes a connection. Secrets that are not replaced stay. */
const Settings = ({ connection, etag }: { connection: PublicEventConnection; etag: string | null }) => {
  const edit = useEditForm({
    read: 'getEventConnection',
    change: 'updateEventConnection',
    params: { event_connection_id: connection.id },
    loaded: { body: connection, etag },
    ...connectionForm.edit,
    disabledReason: permissionReason(usePermission('updateEventConnection')),
  });
  return (
    <Section title={words.settings}>
      <EditForm edit={edit} {...connectionForm.compare} onSaved={() => notify(words.saved)}>
        <FormFields of={connectionForm} form={edit.form} exists />
      </EditForm>
    </Section>
  );
};

/** One event connection: whether the broker responds, and its settings. */
export const EventConnectionPage = () => {
  const { eventConnectionId } = useParams({ from: '/shell/event-connections/$eventConnectionId' });
  const params = { event_connection_id: eventConnectionId };
  const got = useOperation('getEventConnection', params);
  return (
    <DetailPage
      got={got}
      operation="getEventConnection"
      kind={pages.eventConnection}
      name={({ name }) => name}
      list={{ label: pages.eventConnections, href: to('/event-connections') }}
      id={eventConnectionId}
      lead={(connection) => `${words.kinds[connection.kind]}, ${serversOf(connection).join(', ')}`}
      removal={{ operation: 'deleteEventConnection', params, words, text: () => <p>{words.deleteText}</p> }}
      test={{
        operation: 'testEventConnection',
        params,
        show: (result) => <ConnectionTestResult result={result} />,
      }}
    >
      {(connection) => <Settings connection={connection} etag={got.etag} />}
    </DetailPage>
  );
};
