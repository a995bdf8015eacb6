import { useAction } from '../../api/index.ts';
import { ApprovalButtons, asksInput, type Deciding } from '../../messages/index.ts';
import { review as words } from '../../text/en/review.ts';
import { workItems } from '../../text/en/work-items.ts';
import { Bar, Button, Problem, Textarea } from '../../ui/index.ts';
import { ActionButton, actOn, useActionReason } from '../work-items/actions.tsx';
import type { ActionName, WorkItemDetail } from '../work-items/types.ts';
import css from './review.module.css';

const others: readonly ActionName[] = ['restart', 'complete', 'cancel'];

/** The decision: with one call the three buttons, with several or a question "Continue". */
export const Decide = ({
  item,
  deciding,
  message,
  onMessage,
  onDone,
}: {
  item: WorkItemDetail;
  deciding: Deciding;
  message: string;
  onMessage: (message: string) => void;
  onDone: () => void;
}) => {
  const reason = useActionReason('continue');
  const { waiting, decided } = deciding;
  const text = message.trim();
  const single = waiting.length === 1 ? waiting[0]! : null;
  const toDecide = waiting.filter(
    ({ kind, approval_id }) => (kind === 'tool_call' || kind === 'input') && !decided.has(approval_id),
  );
  const proceed = useAction(async () => {
    const decisions = [...decided.values()];
    const body = {
      ...(decisions.length > 0 ? { decisions } : {}),
      ...(text === '' ? {} : { message: text }),
    };
    await actOn(item, 'continue', body);
    onDone();
  });
  const error = proceed.error ?? deciding.error;
  const asks = waiting.length === 0;
  return (
    <div className={css.decide}>
      <Textarea
        label={asks ? words.message : words.messageOptional}
        value={message}
        onChange={onMessage}
        placeholder={asks ? words.answers : words.seesIt}
        rows={2}
      />
      {error && <Problem error={error} />}
      <div className={css.buttons}>
        <Bar>
          {single && !asksInput(single) && (
            <ApprovalButtons
              approval={single}
              deciding={deciding}
              approveFirst
              onDeny={() =>
                void deciding.decide({
                  approval_id: single.approval_id,
                  decision: 'deny',
                  ...(text === '' ? {} : { reason: text }),
                })
              }
            />
          )}
          {(!single || single.kind === 'unknown_outcome') && (
            <Button
              kind={single ? 'plain' : 'primary'}
              busy={proceed.busy || deciding.busy}
              disabledReason={
                reason ??
                (toDecide.length > 0 && waiting.length > 1 ? words.undecided(toDecide.length) : null)
              }
              onClick={() => void proceed.run()}
            >
              {workItems.continue}
            </Button>
          )}
        </Bar>
        <Bar>
          {others
            .filter((action) => item.allowed_actions.includes(action))
            .map((action) => (
              <ActionButton
                key={action}
                item={item}
                action={action}
                kind={action === 'cancel' ? 'quiet-danger' : 'quiet'}
                onDone={onDone}
              />
            ))}
        </Bar>
      </div>
    </div>
  );
};
