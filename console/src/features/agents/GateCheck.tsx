import { useOperation } from '../../api/index.ts';
import type { PublicAgent, PublicPublication } from '../../api/types.gen.ts';
import { to } from '../../routing/to.ts';
import { versions as words } from '../../text/en/versions.ts';
import { Box, Callout, Link, Muted, Section, Table } from '../../ui/index.ts';
import css from './fields.module.css';

/** Milliseconds between two reads of a check that runs. */
const every = 1_500;

/** The trials of one experiment of a check, ended and all. Later ones begin when the earlier ones have ended. */
const useTrials = (id: string | undefined, open: boolean): readonly [ended: number, total: number] => {
  const { data } = useOperation('getExperiment', id === undefined ? null : { experiment_id: id }, {
    every: open ? every : undefined,
  });
  return data ? [data.trials.total - data.trials.queued - data.trials.running, data.trials.total] : [0, 0];
};

/** Progress of a check: "412 of 600 trials". */
const Progress = ({ publication: { gate } }: { publication: PublicPublication }) => {
  const [candidate, published, second] = gate?.experiment_ids ?? [];
  const parts = [useTrials(candidate, true), useTrials(published, true), useTrials(second, true)];
  const ended = parts.reduce((sum, [one]) => sum + one, 0);
  const total = parts.reduce((sum, [, all]) => sum + all, 0);
  const text = words.progress(ended, total);
  return (
    <div className={css.check}>
      <div
        role="progressbar"
        aria-label={words.check}
        aria-valuemin={0}
        aria-valuemax={total}
        aria-valuenow={ended}
        aria-valuetext={text}
        className={css.bar}
      >
        <span style={{ width: `${total === 0 ? 0 : (ended / total) * 100}%` }} />
      </div>
      <p role="status">{text}</p>
      <Muted small>{words.goesOn}</Muted>
    </div>
  );
};

/** The cases that got worse, each with a link to both transcripts. */
const FailingCases = ({ publication: { gate } }: { publication: PublicPublication }) => {
  const [candidate] = gate?.experiment_ids ?? [];
  // The published version's second run decided, if there was one.
  const published = gate?.experiment_ids.slice(1).at(-1);
  const rows = gate?.failing_cases ?? [];
  if (rows.length === 0) return null;
  return (
    <Section title={words.failingCases}>
      <Box>
        <Table
          label={words.failingCases}
          rows={rows}
          rowKey={({ case_id }) => case_id}
          name={({ name }) => name}
          href={({ case_id }) =>
            to('/evaluations/compare', {}, { a: published, b: candidate, case: case_id })
          }
          columns={[
            { key: 'name', title: words.case, width: '64%', cell: ({ name }) => name },
            {
              key: 'scores',
              title: words.points,
              numeric: true,
              cell: ({ before, after }) => words.pointsOf(before, after),
            },
          ]}
        />
      </Box>
    </Section>
  );
};

const Verdict = ({ publication }: { publication: PublicPublication }) => {
  const { state, version, gate, reason } = publication;
  const { before = null, after = null, p_value = null, detectable_drop = null } = gate ?? {};
  const figures = before !== null && after !== null;
  if (state === 'published' || state === 'passed') {
    return (
      <Callout tone="good" title={words.passed}>
        <p>
          {state === 'published' ? words.isPublished(version) : words.onlyChecked}{' '}
          {figures && words.sentence(before, after)}
        </p>
      </Callout>
    );
  }
  if (state === 'blocked') {
    return (
      <Callout tone="bad" title={figures ? words.blocked(before, after) : words.isBlocked}>
        <p>
          {p_value !== null && words.pValue(p_value)} {words.stays(publication.from_version ?? version)}
        </p>
      </Callout>
    );
  }
  return (
    <Callout tone="look" title={state === 'cancelled' ? words.checkCancelled : words.inconclusive}>
      <p>
        {reason} {state === 'inconclusive' && words.inconclusiveText(gate?.cases ?? 0)}{' '}
        {detectable_drop !== null && words.detectable(detectable_drop)}
      </p>
    </Callout>
  );
};

/** Progress of the gate's check of a publication, then its verdict and failing cases. */
export const GateCheck = ({ agent, first }: { agent: PublicAgent; first: PublicPublication }) => {
  const params = { agent_id: agent.id, publication_id: first.id };
  const { data } = useOperation('getAgentPublication', params, {
    every: first.state === 'checking' ? every : undefined,
  });
  const publication = data ?? first;
  if (publication.state === 'checking') return <Progress publication={publication} />;
  return (
    <>
      <Verdict publication={publication} />
      <FailingCases publication={publication} />
      {publication.gate && publication.gate.experiment_ids.length > 1 && (
        <p>
          <Link
            href={to(
              '/evaluations/compare',
              {},
              { a: publication.gate.experiment_ids[1], b: publication.gate.experiment_ids[0] },
            )}
          >
            {words.allCases}
          </Link>
        </p>
      )}
    </>
  );
};
