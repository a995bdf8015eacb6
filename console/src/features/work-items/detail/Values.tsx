import { addressOf } from '../../../api/index.ts';
import {
  FormatButton,
  LongText,
  looksFormatted,
  prettyJson,
  useFormatting,
} from '../../../messages/index.ts';
import { common } from '../../../text/en/common.ts';
import { workItems as words } from '../../../text/en/work-items.ts';
import { bytes } from '../../../text/index.ts';
import { Bar, Box, JsonView, Link, Muted, Section } from '../../../ui/index.ts';
import type { WorkItemDetail } from '../types.ts';
import css from './detail.module.css';

const hrefOf = (work_item_id: string, part: 'payload' | 'result'): string =>
  addressOf(part === 'payload' ? 'downloadWorkItemPayload' : 'downloadWorkItemResult', { work_item_id });

const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/** The payload or the result. A text is a text; of a large one the beginning is shown. */
const Value = ({ item, part, none }: { item: WorkItemDetail; part: 'payload' | 'result'; none: string }) => {
  const formatting = useFormatting();
  const value = item[part];
  const cut = item[`${part}_cut`];
  const title = part === 'payload' ? words.payloadTitle : words.resultTitle;
  const fileName = `${part}-${item.id}`;
  const whole = cut && { bytes: cut.bytes, href: hrefOf(item.id, part) };
  return (
    <Section
      title={title}
      note={cut ? bytes(cut.bytes) : null}
      aside={
        !cut &&
        !isEmpty(value) && (
          <Bar>
            {typeof value === 'string' && looksFormatted(value) && <FormatButton />}
            <Link href={hrefOf(item.id, part)} download className={css.download}>
              {common.download}
            </Link>
          </Bar>
        )
      }
    >
      <Box>
        {cut ? (
          <div className={css.text}>
            <LongText text={cut.head} mono fileName={fileName} whole={whole} />
          </div>
        ) : isEmpty(value) ? (
          <p className={css.none}>
            <Muted>{none}</Muted>
          </p>
        ) : typeof value === 'string' && prettyJson(value) === value ? (
          <div className={css.text}>
            <LongText
              text={value}
              formatted={formatting && looksFormatted(value)}
              fileName={`${fileName}.txt`}
            />
          </div>
        ) : (
          <div className={css.text}>
            <JsonView
              value={typeof value === 'string' ? JSON.parse(value) : value}
              label={title}
              fileName={`${fileName}.json`}
            />
          </div>
        )}
      </Box>
    </Section>
  );
};

export const Values = ({ item }: { item: WorkItemDetail }) => (
  <>
    {item.error && (
      <Section title={words.errorTitle}>
        <Box>
          <div className={css.text}>
            <code>{item.error.code}</code>
            <LongText text={item.error.message} />
          </div>
        </Box>
      </Section>
    )}
    <Value item={item} part="result" none={item.finished_at ? words.noResultEnded : words.noResult} />
    <Section title={words.messageTitle}>
      <Box>
        {item.message === '' ? (
          <p className={css.none}>
            <Muted>{words.noMessage}</Muted>
          </p>
        ) : (
          <div className={css.text}>
            <LongText text={item.message} />
          </div>
        )}
      </Box>
    </Section>
    <Value item={item} part="payload" none={words.noPayload} />
  </>
);
