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
import { workItemList as words } from '../../../text/en/work-item-list.ts';
import { workItems } from '../../../text/en/work-items.ts';
import {
  ActionDialog,
  Bar,
  Button,
  Dialog,
  Muted,
  notify,
  Problem,
  Skeleton,
  Textarea,
} from '../../../ui/index.ts';
import type { ActionName, BulkAction } from '../types.ts';
import css from './list.module.css';

/** On which Work Items: some, or all that match. */
export type Target = { ids: readonly string[] } | { filter: Body<'startBulkAction'>['filter'] };

export interface BulkProps {
  action: ActionName;
  target: Target;
  onClose: () => void;
  onDone: () => void;
}

/** What stays as it is, and why. */
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

/** An action that goes on after its request: how far it is. */
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

/** What would change, exactly, before it is changed. */
const Ask = ({ action, target, onClose, onDone, onBulk }: BulkProps & { onBulk: (id: string) => void }) => {
  const [message, setMessage] = useState('');
  useUnsaved(() => message.trim() !== '' && !act.busy);
  const [dryRun, setDryRun] = useState<BulkAction | null>(null);
  const [recounted, setRecounted] = useState(false);
  const count = useAction(async () => {
    const body = { action, ...target, dry_run: true };
    setDryRun((await call('startBulkAction', {}, { body })).body);
  });
  const start = useEffectEvent(() => void count.run());
  useEffect(() => start(), []);
  const act = useAction(async () => {
    const more = action === 'continue' && message.trim() !== '' ? { message: message.trim() } : {};
    const body = { action, ...target, expected_count: dryRun!.matched, ...more };
    try {
      const reply = await perform('startBulkAction', {}, { body });
      const { bulk_id, finished_at, done } = reply.body;
      if (finished_at === null) return onBulk(bulk_id!);
      notify(words.bulkDone(done));
      onDone();
    } catch (problem) {
      // Someone else was faster: count again, and let the person decide again.
      if ((problem as { status?: number }).status === 412) {
        setRecounted(true);
        await count.run();
      }
      throw problem;
    }
  });
  const change = dryRun?.would_change ?? 0;
  const none = dryRun !== null && change === 0;
  return (
    <ActionDialog
      open
      onClose={onClose}
      title={workItems[action]}
      action={dryRun ? words.bulk[action](change) : workItems[action]}
      kind={action === 'cancel' ? 'danger' : 'primary'}
      onConfirm={() => void act.run()}
      busy={act.busy || count.busy}
      error={recounted ? null : (act.error ?? count.error)}
      disabledReason={none ? words.nothingWouldChange : null}
    >
      {recounted && (
        <p role="alert" className={css.recounted}>
          {words.countChanged}
        </p>
      )}
      {dryRun ? (
        <div>
          <p>{none ? words.nothingWouldChange : words.wouldChange(change, dryRun.matched)}</p>
          <Refused refused={dryRun.refused} />
        </div>
      ) : (
        <>
          <p>{words.counting}</p>
          <Skeleton rows={1} height={24} />
        </>
      )}
      <p>
        <Muted small>
          {action === 'restart'
            ? workItems.restartMore
            : action === 'cancel'
              ? workItems.cancelMore
              : action === 'complete'
                ? workItems.completeMore
                : action === 'continue'
                  ? workItems.continueMore
                  : ''}
        </Muted>
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

/** Does the same to many Work Items: first it says what would change, then how far it is. */
export const BulkDialog = (props: BulkProps) => {
  const [bulk, setBulk] = useState<string | null>(null);
  return bulk === null ? <Ask {...props} onBulk={setBulk} /> : <Progress {...props} id={bulk} />;
};

const actions: readonly ActionName[] = ['continue', 'restart', 'complete', 'cancel'];

/** The buttons for what is selected. */
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
