import { useEffect, useEffectEvent, useState } from 'react';
import { type Body, call, perform, useAction, usePermission, useUnsaved } from '../../../api/index.ts';
import type { ActOnSchedulesResult } from '../../../api/types.gen.ts';
import { common } from '../../../text/en/common.ts';
import { schedules as words } from '../../../text/en/schedules.ts';
import { ActionDialog, notify, permissionReason, Skeleton, Textarea } from '../../../ui/index.ts';
import css from './list.module.css';

export type ActionName = Body<'actOnSchedules'>['action'];

export type Target = { ids: readonly string[] } | { filter: Body<'actOnSchedules'>['filter'] };

/** The schedules that stay as they are, by reason. */
const Refused = ({ refused }: { refused: ActOnSchedulesResult['refused'] }) => {
  const counts = new Map<string, number>();
  for (const { reason } of refused) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return (
    <ul className={css.refused}>
      {[...counts].map(([reason, count]) => (
        <li key={reason}>{words.refused(count, reason)}</li>
      ))}
    </ul>
  );
};

/** Says exactly what would change, asks for the reason, and changes exactly that. */
export const ActDialog = ({
  action,
  target,
  onClose,
  onDone,
}: {
  action: ActionName;
  target: Target;
  onClose: () => void;
  onDone: () => void;
}) => {
  const [reason, setReason] = useState('');
  useUnsaved(() => reason.trim() !== '' && !act.busy);
  const [counted, setCounted] = useState<ActOnSchedulesResult | null>(null);
  const [recounted, setRecounted] = useState(false);
  const disabledReason = permissionReason(usePermission('actOnSchedules'));
  const count = useAction(async () => {
    const body = { action, ...target, dry_run: true };
    setCounted((await call('actOnSchedules', {}, { body })).body);
  });
  const start = useEffectEvent(() => void count.run());
  useEffect(() => start(), []);
  const act = useAction(async () => {
    const why = reason.trim() === '' ? {} : { reason: reason.trim() };
    try {
      const sent = { action, ...target, expected_count: counted!.matched, ...why };
      const { body } = await perform('actOnSchedules', {}, { body: sent });
      notify(words.done[action](body.changed));
      onDone();
    } catch (problem) {
      if ((problem as { status?: number }).status !== 412) throw problem;
      // Others match in the meantime: count again, and let the person decide again.
      setRecounted(true);
      await count.run();
    }
  });
  const change = counted?.would_change ?? 0;
  const none = counted !== null && change === 0;
  const size = counted ? change : 'ids' in target ? target.ids.length : 2;
  const one = 'ids' in target && target.ids.length === 1;
  const title = words.ask[action](one ? 1 : Math.max(2, size));
  return (
    <ActionDialog
      open
      onClose={onClose}
      title={title}
      kind={action === 'delete' ? 'danger' : 'primary'}
      onConfirm={() => counted && void act.run()}
      busy={act.busy || count.busy}
      error={act.error ?? count.error}
      disabledReason={disabledReason ?? (none ? words.nothingWouldChange : null)}
    >
      {recounted && (
        <p role="alert" className={css.recounted}>
          {words.countChanged}
        </p>
      )}
      {!one && (
        <div>
          {counted ? (
            <p>{none ? words.nothingWouldChange : words.wouldChange(change, counted.matched)}</p>
          ) : (
            <>
              <p>{words.counting}</p>
              <Skeleton rows={1} height={24} />
            </>
          )}
        </div>
      )}
      {counted && <Refused refused={counted.refused} />}
      <p>{words.more[action]}</p>
      <Textarea
        label={common.reason}
        value={reason}
        onChange={setReason}
        hint={words.reasonHint}
        rows={2}
        autoFocus
      />
    </ActionDialog>
  );
};
