import { useEffect, useEffectEvent, useState } from 'react';
import {
  type Body,
  call,
  perform,
  refreshAfter,
  useAction,
  useOperation,
  useUnsaved,
} from '../../../api/index.ts';
import { CountedChange, useCountedAction } from '../../../resource/index.ts';
import { workItemList as words } from '../../../text/en/work-item-list.ts';
import { workItems } from '../../../text/en/work-items.ts';
import { ActionDialog, Bar, Button, Dialog, Muted, notify, Problem, Textarea } from '../../../ui/index.ts';
import { explanationOf } from '../actions.tsx';
import type { ActionName, BulkAction } from '../types.ts';
import css from './list.module.css';

export type Target = { ids: readonly string[] } | { filter: Body<'startBulkAction'>['filter'] };

export interface BulkProps {
  action: ActionName;
  target: Target;
  onClose: () => void;
  onDone: () => void;
}

const Refused = ({ refused }: { refused: BulkAction['refused'] }) => (
  <ul className={css.refused}>
    {refused.map(({ status, count }) => (
      <li key={status}>
        <Muted small>
          {status === null ? words.gone(count) : words.refused(count, workItems.status[status].toLowerCase())}
        </Muted>
      </li>
    ))}
  </ul>
);

/** The progress of an action that goes on after its request. */
const Progress = ({ id, onDone, ...props }: { id: string } & BulkProps) => {
  const params = { bulk_id: id };
  const [every, setEvery] = useState<number | undefined>(500);
  const got = useOperation('getBulkAction', params, { every });
  const stop = useAction(() => perform('cancelBulkAction', params));
  const ended = got.data?.finished_at ?? null;
  const end = useEffectEvent(() => {
    setEvery(undefined);
    void refreshAfter('startBulkAction');
  });
  useEffect(() => {
    if (ended !== null) end();
  }, [ended]);
  const { data } = got;
  return (
    <Dialog
      open
      onClose={onDone}
      title={workItems[props.action]}
      actions={
        ended === null && (
          <Button busy={stop.busy} onClick={() => void stop.run()}>
            {words.stop}
          </Button>
        )
      }
    >
      {data && (
        <>
          <progress className={css.progress} value={data.done} max={Math.max(1, data.matched)} />
          <p role="status">{words.progress(data.done, data.matched)}</p>
          <Refused refused={data.refused} />
          {data.state === 'cancelled' && <p>{words.stopped}</p>}
          {data.failed > 0 && <p>{words.bulkFailed(data.failed)}</p>}
        </>
      )}
      {got.error && <Problem error={got.error} />}
      {stop.error && <Problem error={stop.error} />}
    </Dialog>
  );
};

const Ask = ({ action, target, onClose, onDone, onBulk }: BulkProps & { onBulk: (id: string) => void }) => {
  const [message, setMessage] = useState('');
  useUnsaved(() => message.trim() !== '' && !act.busy);
  const { counted, recounted, act } = useCountedAction(
    async () => (await call('startBulkAction', {}, { body: { action, ...target, dry_run: true } })).body,
    async ({ matched }) => {
      const more = action === 'continue' && message.trim() !== '' ? { message: message.trim() } : {};
      const body = { action, ...target, expected_count: matched, ...more };
      const { bulk_id, finished_at, done } = (await perform('startBulkAction', {}, { body })).body;
      if (finished_at === null) return onBulk(bulk_id!);
      notify(words.bulkDone(done));
      onDone();
    },
  );
  return (
    <ActionDialog
      open
      onClose={onClose}
      title={workItems[action]}
      action={counted ? words.bulk[action](counted.would_change ?? 0) : workItems[action]}
      kind={action === 'cancel' ? 'danger' : 'primary'}
      act={act}
      disabledReason={counted && !counted.would_change ? words.nothingWouldChange : null}
    >
      <CountedChange counted={counted} recounted={recounted} words={words}>
        {counted && <Refused refused={counted.refused} />}
      </CountedChange>
      <p>
        <Muted small>{explanationOf(action)}</Muted>
      </p>
      {action === 'continue' && (
        <Textarea
          label={workItems.message}
          value={message}
          onChange={setMessage}
          hint={workItems.messageHint}
          rows={3}
        />
      )}
    </ActionDialog>
  );
};

/** The dialog of an action on many Work Items: the exact change, then the progress. */
export const BulkDialog = (props: BulkProps) => {
  const [bulk, setBulk] = useState<string | null>(null);
  return bulk === null ? <Ask {...props} onBulk={setBulk} /> : <Progress {...props} id={bulk} />;
};

const actions: readonly ActionName[] = ['continue', 'restart', 'complete', 'cancel'];

export const BulkButtons = ({
  reasonOf,
  onChoose,
}: {
  reasonOf: (action: ActionName) => string | null;
  onChoose: (action: ActionName) => void;
}) => (
  <Bar>
    {actions.map((action) => (
      <Button
        key={action}
        small
        kind={action === 'cancel' ? 'danger' : 'plain'}
        disabledReason={reasonOf(action)}
        onClick={() => onChoose(action)}
      >
        {workItems[action]}
      </Button>
    ))}
  </Bar>
);
