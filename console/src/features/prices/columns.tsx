import type { Price } from '../../api/types.gen.ts';
import { prices as words } from '../../text/en/prices.ts';
import { Time, useClock } from '../../time/index.ts';
import { type Column, TwoLines, Words } from '../../ui/index.ts';

type RateName = keyof typeof words.rates;

/** Rates with a column of their own; the others stand together. */
const main = ['input', 'output', 'cache_read', 'cache_write'] as const satisfies readonly RateName[];
const others = ['cache_write_1h', 'reasoning', 'input_audio', 'output_audio', 'request'] as const;

const Rate = ({ price: { rates, above }, name }: { price: Price; name: RateName }) => {
  const [rate, long] = [rates[name], above?.rates[name]];
  if (rate === undefined) return null;
  return <TwoLines below={long && words.usd(long)}>{words.usd(rate)}</TwoLines>;
};

const Others = ({ price: { rates, above } }: { price: Price }) => {
  const given = others.flatMap((name) => {
    const [rate, long] = [rates[name], above?.rates[name]];
    if (rate === undefined) return [];
    const shown = long && long !== rate ? `${words.usd(rate)} / ${words.usd(long)}` : words.usd(rate);
    return [words.moreRate(words.rates[name], shown)];
  });
  return given.length === 0 ? null : given.map((one) => <div key={one}>{one}</div>);
};

/** The state of a price at a time. */
const stateAt = ({ valid_from, valid_to }: Price, now: number) => {
  if (valid_to !== null && Date.parse(valid_to) <= now) return 'endedAt';
  return Date.parse(valid_from) <= now ? 'since' : 'from';
};

const Valid = ({ price }: { price: Price }) => {
  const { valid_from, valid_to } = price;
  const state = useClock((now) => stateAt(price, now));
  const at = (time: string) => <Time at={time} form="date" />;
  if (state === 'endedAt') return <Words text={words.endedAt} at={at(valid_to!)} />;
  return (
    <TwoLines below={valid_to !== null && <Words text={words.until} at={at(valid_to)} />}>
      <Words text={words[state]} at={at(valid_from)} />
    </TwoLines>
  );
};

const rateColumns = main.map(
  (name): Column<Price> => ({
    key: name,
    title: words.rates[name],
    numeric: true,
    titled: true,
    phone: 'below',
    cell: (price) => <Rate price={price} name={name} />,
  }),
);

/** `below`: what is said of the row below the name of its model. */
export const columnsOf = (below: (price: Price) => string): readonly Column<Price>[] => [
  {
    key: 'model',
    title: words.model,
    width: '30%',
    cell: (price) => <TwoLines below={below(price)}>{price.model}</TwoLines>,
  },
  ...rateColumns,
  { key: 'others', title: words.more, phone: 'below', cell: (price) => <Others price={price} /> },
  { key: 'valid', title: words.valid, phone: 'below', cell: (price) => <Valid price={price} /> },
];
