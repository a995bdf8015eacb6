import { type Body, call, perform, useUnsaved } from '../../../api/index.ts';
import type { ActOnSchedulesResult } from '../../../api/types.gen.ts';
import { CountedChange, useCountedAction, useOptionalReason } from '../../../resource/index.ts';
import { schedules as words } from '../../../text/en/schedules.ts';
import { ActionDialog, notify, useDisabledReason } from '../../../ui/index.ts';
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
  const reason = useOptionalReason(words.reasonHint);
  useUnsaved(() => reason.isGiven && !act.busy);
  const mayAct = useDisabledReason('actOnSchedules');
  const { counted, recounted, act } = useCountedAction(
    async () => (await call('actOnSchedules', {}, { body: { action, ...target, dry_run: true } })).body,
    async ({ matched }) => {
      const body = { action, ...target, expected_count: matched, ...reason.given };
      const { changed } = (await perform('actOnSchedules', {}, { body })).body;
      notify(words.done[action](changed));
      onDone();
    },
  );
  const size = counted?.would_change ?? ('ids' in target ? target.ids.length : 2);
  const one = 'ids' in target && target.ids.length === 1;
  const refused = counted && <Refused refused={counted.refused} />;
  return (
    <ActionDialog
      open
      onClose={onClose}
      title={words.ask[action](one ? 1 : Math.max(2, size))}
      kind={action === 'delete' ? 'danger' : 'primary'}
      act={act}
      disabledReason={mayAct ?? (counted && !counted.would_change ? words.nothingWouldChange : null)}
    >
      {one ? (
        refused
      ) : (
        <CountedChange counted={counted} recounted={recounted} words={words}>
          {refused}
        </CountedChange>
      )}
      <p>{words.more[action]}</p>
      {reason.field}
    </ActionDialog>
  );
};
