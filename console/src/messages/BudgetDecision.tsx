import { useState } from 'react';
import { useOperation, useUnsaved } from '../api/index.ts';
import { nanoOf, plainUsd } from '../resource/money.ts';
import { budgets as words } from '../text/en/budgets.ts';
import { messages } from '../text/en/messages.ts';
import { Button, TextField, useDisabledReason } from '../ui/index.ts';
import type { Deciding } from './decisions.ts';
import type { PendingApproval } from './types.ts';

type Unit = keyof typeof words.extraHint;

/** An amount as the field shows it, in the unit of the budget. */
const textOf = (unit: Unit, amount: number): string =>
  unit === 'nano_usd' ? plainUsd(amount) : String(amount);

const readExtra = (unit: Unit, text: string): number | null => {
  if (unit === 'nano_usd') return nanoOf(text);
  return /^\d{1,16}$/.test(text.trim()) ? Number(text) : null;
};

/** The field and the buttons for a budget that is used up: an administrator adds room in this period, or ends the run. */
export const BudgetDecision = ({
  approval: { approval_id, arguments: args },
  deciding,
  small,
  primary,
  onDeny,
}: {
  approval: PendingApproval;
  deciding: Deciding;
  small: boolean;
  primary: boolean;
  onDeny: (() => void) | undefined;
}) => {
  const { budget_id, extra } = args as { budget_id: string; extra: number };
  const mayDecide = useDisabledReason('updateBudget');
  // Only those who decide may read each budget.
  const read = { staleTime: 30_000, enabled: mayDecide === null };
  const { data: budget } = useOperation('getBudget', { budget_id }, read);
  const unit: Unit = budget?.unit ?? 'tokens';
  const [typed, setTyped] = useState<string | null>(null);
  useUnsaved(() => typed !== null && !deciding.busy);
  const text = typed ?? (budget ? textOf(unit, extra) : '');
  const amount = readExtra(unit, text);
  const disabledReason = mayDecide ?? deciding.disabledReason;
  const approve = () =>
    void deciding.decide({ approval_id, decision: 'approve', arguments: { extra: amount ?? 0 } });
  return (
    <>
      <TextField
        label={words.extraField}
        hint={words.extraHint[unit]}
        value={text}
        onChange={setTyped}
        error={amount === null && budget ? words.extraFault : undefined}
        disabledReason={disabledReason}
      />
      <Button
        small={small}
        kind={primary ? 'primary' : 'plain'}
        busy={deciding.busy}
        disabledReason={disabledReason ?? (amount === null ? words.extraFault : null)}
        onClick={approve}
      >
        {messages.approve}
      </Button>
      <Button
        small={small}
        busy={deciding.busy}
        disabledReason={disabledReason}
        onClick={onDeny ?? (() => void deciding.decide({ approval_id, decision: 'deny' }))}
      >
        {messages.deny}
      </Button>
    </>
  );
};
