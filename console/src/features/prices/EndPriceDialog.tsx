import { useState } from 'react';
import { perform, useAction } from '../../api/index.ts';
import type { Price } from '../../api/types.gen.ts';
import { prices as words } from '../../text/en/prices.ts';
import { fieldOfTime, timeOfField } from '../../time/index.ts';
import { ActionDialog, notify, TextField } from '../../ui/index.ts';

/** Asks for the end of a price; an empty field takes the end away. */
export const EndPriceDialog = ({ price, onClose }: { price: Price; onClose: () => void }) => {
  const [end, setEnd] = useState(fieldOfTime(price.valid_to ?? new Date().toISOString()));
  const act = useAction(async () => {
    const body = { valid_to: end === '' ? null : timeOfField(end) };
    await perform('updatePrice', { price_id: price.id }, { body });
    notify(words.ended);
    onClose();
  });
  return (
    <ActionDialog open onClose={onClose} title={words.endPrice} act={act}>
      <p>{price.model}</p>
      <p>{words.endText}</p>
      <TextField
        label={words.validTo}
        hint={words.validToHint}
        type="datetime-local"
        value={end}
        onChange={setEnd}
      />
    </ActionDialog>
  );
};
