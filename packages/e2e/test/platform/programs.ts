import { join } from 'node:path';
import { root } from '../deploy/chart.js';

/**
 * The folder of the built services that the tests run: `PLATFORM_CHECKOUT` names another checkout than this one, such as
 * that of an earlier version.
 */
export const SERVICES_FOLDER = join(process.env['PLATFORM_CHECKOUT'] ?? root, 'services');
