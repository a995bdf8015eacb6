import { datasetForm, type Evaluation } from '../../evaluation/index.ts';
import { withoutNull } from '../../lib/objects.ts';
import type { Item, Kind } from '../kind.ts';
import { byFeature, resourceKind } from '../resource-kind.ts';

/** Datasets, without their cases, which are imported. */
export const datasetKind = (evaluation: Evaluation): Kind =>
  resourceKind({
    ...byFeature(evaluation),
    ...datasetForm,
    kind: 'dataset',
    key: 'datasets',
    toDocument: (item) =>
      Array.isArray(item.graders)
        ? { ...item, graders: item.graders.map((grader: object) => withoutNull(grader)) }
        : item,
    // With the defaults that the document leaves out, and the names of judges' models as it has them.
    complete: ({ graders, ...item }, body) => ({
      ...item,
      graders: body.graders.map((grader, i) => {
        if (grader.type !== 'llm_judge') return grader;
        const { llm_id: _, ...judge } = grader;
        return { ...judge, llm: (graders as Item[])[i]!.llm ?? null };
      }),
    }),
  });
