import type { PublicSemanticDataModel, VerifiedQuery } from '../../api/types.gen.ts';
import { to } from '../../routing/to.ts';
import { semanticDataModels as words } from '../../text/en/semantic-data-models.ts';
import { Time } from '../../time/index.ts';
import { Box, ButtonLink, CodeBlock, EmptyState, Muted, Section, Tag, Words } from '../../ui/index.ts';
import css from './ModelView.module.css';

/** SQL as it is, or the structured query as JSON. */
export const codeOf = ({ sql, query }: Pick<VerifiedQuery, 'sql' | 'query'>): string =>
  sql ?? JSON.stringify(query, null, 2);

export const QueriesTab = ({ model }: { model: PublicSemanticDataModel }) => (
  <Section label={words.tabs.queries}>
    {model.verified_queries.length === 0 ? (
      <Box>
        <EmptyState
          sentence={words.noQueries}
          action={
            <ButtonLink
              href={to(
                '/semantic-data-models/$semanticDataModelId',
                { semanticDataModelId: model.id },
                { tab: 'ask' },
              )}
            >
              {words.tabs.ask}
            </ButtonLink>
          }
        />
      </Box>
    ) : (
      <div className={css.list}>
        {model.verified_queries.map((query) => (
          <Section
            key={query.name}
            title={query.name}
            note={query.question}
            aside={
              <ButtonLink
                small
                label={`${words.run} ${query.name}`}
                href={to(
                  '/semantic-data-models/$semanticDataModelId',
                  { semanticDataModelId: model.id },
                  { tab: 'ask', ask: query.name },
                )}
              >
                {words.run}
              </ButtonLink>
            }
          >
            <CodeBlock code={codeOf(query)} label={query.name} />
            <Muted small>
              <Words text={words.verifiedBy} at={<Time at={query.verified_at} form="relative" />} />{' '}
              {query.use_as_onboarding_question && <Tag>{words.onboarding}</Tag>}
            </Muted>
          </Section>
        ))}
      </div>
    )}
  </Section>
);
