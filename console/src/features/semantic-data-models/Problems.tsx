import type { ReactNode } from 'react';
import type { SemanticDataModelIssue } from '../../api/types.gen.ts';
import { semanticDataModels as words } from '../../text/en/semantic-data-models.ts';
import { list } from '../../text/index.ts';
import { Box, Muted, OutcomeTag, Section } from '../../ui/index.ts';
import css from './ModelView.module.css';

/** More of them make the page slow, and people fix the first ones before they read on. */
const most = 100;

/** Findings of a validation, errors first. `placeOf` makes the link to the place in the text. */
export const Problems = ({
  issues,
  placeOf,
}: {
  issues: readonly SemanticDataModelIssue[];
  placeOf: (issue: SemanticDataModelIssue) => ReactNode;
}) => {
  const errors = issues.filter(({ severity }) => severity === 'error');
  const warnings = issues.filter(({ severity }) => severity === 'warning');
  const shown = [...errors, ...warnings].slice(0, most);
  return (
    <Section title={words.problems} note={words.problemCount(errors.length, warnings.length)}>
      <Box padded>
        <ul className={css.problems}>
          {shown.map((issue) => (
            <li key={`${issue.code} ${issue.path} ${issue.message}`}>
              <OutcomeTag kind={issue.severity === 'error' ? 'missing' : 'late'}>
                {words.severities[issue.severity]}
              </OutcomeTag>{' '}
              {issue.message}
              {issue.suggestions.length > 0 && ` ${words.suggestions(list(issue.suggestions))}`}{' '}
              <Muted small third>
                {issue.path}
              </Muted>{' '}
              {placeOf(issue)}
            </li>
          ))}
        </ul>
        {errors.length + warnings.length > most && (
          <Muted small>{words.moreProblems(errors.length + warnings.length - most)}</Muted>
        )}
      </Box>
    </Section>
  );
};
