import type { ReactNode } from 'react';
import type { SemanticDataModelAnswer } from '../../api/types.gen.ts';
import { semanticDataModels as words } from '../../text/en/semantic-data-models.ts';
import { Box, Callout, CodeBlock, EmptyState, RowsTable, Section } from '../../ui/index.ts';

export const Answer = ({ answer, actions }: { answer: SemanticDataModelAnswer; actions?: ReactNode }) => {
  const { source, verified_query, explanation, warnings, columns, rows, truncated, sql, query } = answer;
  const note = [
    verified_query ? words.verifiedQuery(verified_query.name) : `${words.sources[source]}.`,
    words.took(answer.duration_ms),
  ];
  return (
    <>
      <div role="status">
        <Section title={words.answer} note={note.join(' ')} aside={actions}>
          {explanation && <Callout title={explanation} />}
          {warnings.map(({ code, message }) => (
            <Callout key={`${code} ${message}`} tone="look" title={message} />
          ))}
          <Box>
            {rows.length === 0 ? (
              <EmptyState sentence={words.noRows} />
            ) : (
              <RowsTable
                label={words.answer}
                columns={columns}
                rows={rows}
                note={truncated && words.truncated}
              />
            )}
          </Box>
        </Section>
      </div>
      <Section title={words.ranSql}>
        <CodeBlock code={sql} label={words.ranSql} />
      </Section>
      {query && (
        <Section title={words.structured}>
          <CodeBlock code={JSON.stringify(query, null, 2)} label={words.structured} />
        </Section>
      )}
    </>
  );
};
