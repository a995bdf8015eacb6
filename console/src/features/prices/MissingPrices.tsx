import type { UnpricedModel } from '../../api/types.gen.ts';
import { prices as words } from '../../text/en/prices.ts';
import { number } from '../../text/index.ts';
import { Time } from '../../time/index.ts';
import { Box, Button, type Column, Section, Table, TwoLines } from '../../ui/index.ts';
import type { FirstPrice } from './NewPriceDialog.tsx';

const modelOf = ({ model, requested_model }: UnpricedModel): string => model ?? requested_model;

/** Models whose calls have no price, each with a button that gives it one. Nothing, if there are none. */
export const MissingPrices = ({
  rows,
  nameOf,
  onSet,
  disabledReason,
}: {
  rows: readonly UnpricedModel[];
  nameOf: (llmId: string) => string;
  onSet: (first: FirstPrice) => void;
  disabledReason: string | null;
}) => {
  if (rows.length === 0) return null;
  const columns: readonly Column<UnpricedModel>[] = [
    {
      key: 'model',
      title: words.model,
      width: '44%',
      cell: (row) => (
        <TwoLines below={row.llm_id === null ? words.noLlm : nameOf(row.llm_id)}>{modelOf(row)}</TwoLines>
      ),
    },
    { key: 'calls', title: words.calls, numeric: true, titled: true, cell: ({ calls }) => number(calls) },
    {
      key: 'last',
      title: words.lastCall,
      phone: 'below',
      cell: ({ last_at }) => <Time at={last_at} form="relative" />,
    },
    {
      key: 'set',
      title: words.setPrice,
      phone: 'below',
      cell: (row) => (
        <Button
          disabledReason={disabledReason}
          onClick={() => onSet({ model: modelOf(row), llm_id: row.llm_id })}
        >
          {words.setPrice}
        </Button>
      ),
    },
  ];
  return (
    <Section title={words.missing} note={words.missingNote}>
      <Box>
        <Table
          label={words.missing}
          rows={rows}
          columns={columns}
          rowKey={({ llm_id, model, requested_model }) => JSON.stringify([llm_id, model, requested_model])}
          name={modelOf}
        />
      </Box>
    </Section>
  );
};
