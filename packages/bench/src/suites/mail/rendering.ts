import { performance } from 'node:perf_hooks';
import type { SuiteOptions, SuiteResult } from '../../suite.js';
import { serviceFile } from '../../built-service.js';
import { letter } from './submission.js';

const WARM_UP = 20_000;
const RENDERINGS = 200_000;

export async function measureRendering({ progress }: SuiteOptions): Promise<SuiteResult> {
  progress('rendering');
  const { renderTemplate } = (await import(serviceFile('mail', 'features/templates/render.js'))) as {
    renderTemplate(type: string, view: object): { html: string; text: string };
  };
  const { createView } = (await import(serviceFile('mail', 'features/templates/view.js'))) as {
    createView(type: string, data: object, productName: string): { view: object };
  };
  const renderMany = (count: number) => {
    const startedAt = performance.now();
    for (let index = 0; index < count; index += 1) {
      const data = { ...letter.templateData, userName: `Ada <${index}>` };
      renderTemplate('loginWithOTP', createView('loginWithOTP', data, 'Example').view);
    }
    return ((performance.now() - startedAt) * 1_000) / count;
  };
  renderMany(WARM_UP);
  const value = renderMany(RENDERINGS);
  return {
    figures: [],
    ratios: [{ name: 'render_us', value, goal: { max: 20 }, note: 'microseconds per mail, HTML and text' }],
  };
}
