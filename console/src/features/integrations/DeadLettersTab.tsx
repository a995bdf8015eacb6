import { useState } from 'react';
import { perform, useAction, useOperation, usePermission } from '../../api/index.ts';
import type { DeadLetter, ShownIntegration } from '../../api/types.gen.ts';
import { useCursor, useUrlState } from '../../routing/url-state.ts';
import { integrations as words } from '../../text/en/integrations.ts';
import { bytes } from '../../text/index.ts';
import { Time } from '../../time/index.ts';
import {
  ActionDialog,
  Bar,
  Box,
  Button,
  Callout,
  type Column,
  EmptyState,
  Loaded,
  notify,
  Pager,
  Problem,
  permissionReason,
  Section,
  Table,
} from '../../ui/index.ts';

const columns: readonly Column<DeadLetter>[] = [
  { key: 'at', title: words.at, width: '190px', cell: ({ at }) => <Time at={at} form="both" /> },
  {
    key: 'answer',
    title: words.answer,
    phone: 'below',
    cell: ({ status, reason }) => `${status} ${reason}`,
  },
  { key: 'size', title: words.size, numeric: true, width: '100px', cell: (letter) => bytes(letter.bytes) },
];

export const DeadLettersTab = ({ integration }: { integration: ShownIntegration }) => {
  const { search } = useUrlState<{ next?: string }>();
  const params = { integration_id: integration.id };
  const got = useOperation('listDeadLetters', params, { query: { next: search.next }, keepPrevious: true });
  const pager = useCursor(got.data?.next);
  const mayRetry = permissionReason(usePermission('retryDeadLetters'));
  const mayPurge = permissionReason(usePermission('purgeDeadLetters'));
  const [purging, setPurging] = useState(false);
  const retry = useAction(async () => {
    const { body } = await perform('retryDeadLetters', params);
    notify(words.retried(body.delivered, body.failed, body.untried));
  });
  const purge = useAction(async () => {
    const { body } = await perform('purgeDeadLetters', params);
    notify(words.purged(body.discarded));
    setPurging(false);
  });
  return (
    <Loaded got={got} operation="listDeadLetters">
      {({ data, on_other_replicas }) => (
        <Section
          label={words.tabs['dead-letters']}
          note={words.lettersText}
          aside={
            data.length + on_other_replicas > 0 && (
              <Bar>
                <Button small busy={retry.busy} disabledReason={mayRetry} onClick={() => void retry.run()}>
                  {words.retryAll}
                </Button>
                <Button small kind="quiet-danger" disabledReason={mayPurge} onClick={() => setPurging(true)}>
                  {words.purgeAll}
                </Button>
              </Bar>
            )
          }
        >
          {retry.error && <Problem error={retry.error} />}
          {on_other_replicas > 0 && <Callout title={words.others(on_other_replicas)} />}
          <Box>
            {data.length === 0 ? (
              <EmptyState sentence={on_other_replicas > 0 ? words.noLettersHere : words.noLetters} />
            ) : (
              <Table
                label={words.tabs['dead-letters']}
                rows={data}
                columns={columns}
                rowKey={({ id }) => id}
                name={({ id }) => id}
              />
            )}
          </Box>
          <Pager {...pager} />
          <ActionDialog
            open={purging}
            onClose={() => setPurging(false)}
            title={words.purgeAll}
            kind="danger"
            onConfirm={() => void purge.run()}
            busy={purge.busy}
            error={purge.error}
          >
            <p>{words.purgeText}</p>
          </ActionDialog>
        </Section>
      )}
    </Loaded>
  );
};
