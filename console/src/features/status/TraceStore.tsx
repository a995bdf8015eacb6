import { useState } from 'react';
import { polling, useOperation } from '../../api/index.ts';
import type { TraceStoreState } from '../../api/types.gen.ts';
import { DeleteDialog } from '../../resource/index.ts';
import { traces as words } from '../../text/en/traces.ts';
import { bytes, number } from '../../text/index.ts';
import { Time } from '../../time/index.ts';
import { Box, Button, Facts, Loaded, OutcomeTag, Section, useDisabledReason } from '../../ui/index.ts';

const sentenceOf = ({ state, lag_seconds }: TraceStoreState): string =>
  state === 'behind' ? words.storeStates.behind(lag_seconds) : words.storeStates[state];

const kinds = { on: 'on-time', off: 'skipped', behind: 'late', failing: 'missing' } as const;

/** How the store of traces does, and what became of the spans that it got. */
export const TraceStore = () => {
  const got = useOperation('getTraceStore', {}, { every: polling.overview });
  const [deleting, setDeleting] = useState(false);
  const mayDelete = useDisabledReason('deleteTraces');
  return (
    <Section
      title={words.store}
      aside={
        <>
          <Button small kind="quiet-danger" disabledReason={mayDelete} onClick={() => setDeleting(true)}>
            {words.deleteAll}
          </Button>
          {deleting && (
            <DeleteDialog
              operation="deleteTraces"
              params={{}}
              title={words.deleteAll}
              deleted={words.deleted}
              onClose={() => setDeleting(false)}
            >
              <p>{words.deleteMore}</p>
            </DeleteDialog>
          )}
        </>
      }
    >
      <Loaded got={got} operation="getTraceStore">
        {(store) => (
          <Box padded>
            <Facts
              facts={[
                [
                  words.storeFacts.state,
                  <OutcomeTag key="state" kind={kinds[store.state]}>
                    {sentenceOf(store)}
                  </OutcomeTag>,
                ],
                [words.storeFacts.stored, words.spanCount(store.stored)],
                [words.storeFacts.queued, number(store.queued)],
                [words.storeFacts.dropped, number(store.dropped)],
                [words.storeFacts.expired, number(store.expired)],
                [words.storeFacts.bytes, bytes(store.bytes)],
                [
                  words.storeFacts.oldest,
                  store.oldest_at === null ? (
                    words.nothingKept
                  ) : (
                    <Time key="oldest" at={store.oldest_at} form="both" />
                  ),
                ],
                store.last_error !== null && [words.storeFacts.error, store.last_error],
              ]}
            />
          </Box>
        )}
      </Loaded>
    </Section>
  );
};
