import { useState } from 'react';
import { call, refreshAfter, useForm } from '../api/index.ts';
import type { DataFrameQueryAnswer } from '../api/types.gen.ts';
import { FormProblems } from '../resource/index.ts';
import { useUrlState } from '../routing/url-state.ts';
import { files as words } from '../text/en/files.ts';
import {
  Box,
  Button,
  Callout,
  EmptyState,
  Form,
  Link,
  RowsTable,
  Section,
  Textarea,
  TextField,
  useDisabledReason,
  Words,
} from '../ui/index.ts';
import type { FileOwner } from './owner.ts';

/** SQL over the data frames: the rows are shown, and kept as a frame if a name is given. */
export const QueryBox = ({ owner, example }: { owner: FileOwner; example: string }) => {
  const { href } = useUrlState<{ frame?: string }>();
  const reason = useDisabledReason(owner.operations.queryFrames);
  const [answer, setAnswer] = useState<DataFrameQueryAnswer | null>(null);
  const form = useForm({ sql: '', save_as: '' }, async ({ sql, save_as }) => {
    setAnswer(null);
    const { body } = await call(owner.operations.queryFrames, owner.params, {
      body: { sql: sql.trim() || words.sqlPlaceholder(example), save_as: save_as.trim() || null },
    });
    setAnswer(body);
    form.reset({ sql, save_as: '' });
    if (body.data_frame) void refreshAfter(owner.operations.queryFrames);
  });
  return (
    <>
      <Section title={words.query} note={words.queryNote}>
        <Form
          onSubmit={() => void form.submit()}
          actions={
            <Button type="submit" busy={form.busy} disabledReason={reason}>
              {words.run}
            </Button>
          }
        >
          <Textarea
            {...form.field('sql')}
            label={words.sql}
            placeholder={words.sqlPlaceholder(example)}
            rows={4}
            mono
          />
          <TextField {...form.field('save_as')} label={words.saveAs} hint={words.saveAsHint} mono />
          <FormProblems form={form} />
        </Form>
      </Section>
      {answer && (
        <div role="status">
          <Section title={words.answer} note={words.took(answer.duration_ms)}>
            {answer.data_frame && (
              <Callout tone="good">
                <Words
                  text={words.kept}
                  name={<Link href={href({ frame: answer.data_frame.name })}>{answer.data_frame.name}</Link>}
                />
              </Callout>
            )}
            {answer.warnings.map(({ code, message }) => (
              <Callout key={code} tone="look" title={message} />
            ))}
            <Box>
              {answer.rows.length === 0 ? (
                <EmptyState sentence={words.noneFound} />
              ) : (
                <RowsTable
                  label={words.answer}
                  columns={answer.columns}
                  rows={answer.rows}
                  note={answer.truncated && words.more}
                />
              )}
            </Box>
          </Section>
        </div>
      )}
    </>
  );
};
