// SPDX-License-Identifier: Apache-2.0
// Curvature of the surface as shown, as modalcurv's method `tensor` defines it (kernels/curvature_tensor/): normals with
// N. Max's weights at every point, then the mean of the tensors of its triangles (S. Rusinkiewicz, Estimating curvatures
// and their derivatives on triangle meshes, 2004), each point's triangles computed by itself. Two passes of the deformer,
// which run only while a curvature is shown.

// What both passes read: the deformer's textures, and where a point's corners are.
const inputs = `
uniform isampler2D info, corners;
uniform sampler2D positions;
uniform int points;
`;

const cornerNormalPass = (common, width) => `${common}${inputs}
layout(location = 0) out vec4 normal;
void main() {
  int i = int(gl_FragCoord.y) * ${width} + int(gl_FragCoord.x);
  normal = vec4(0.0);
  if (i >= points) return;
  ivec4 b = texelFetch(info, at(2 * i + 1), 0);
  vec3 x = texelFetch(positions, at(i), 0).xyz, sum = vec3(0.0);
  for (int k = 0; k < b.z; k++) {
    ivec2 c = texelFetch(corners, at(b.y + k), 0).xy;
    vec3 d = texelFetch(positions, at(b.w + c.x), 0).xyz - x, e = texelFetch(positions, at(b.w + c.y), 0).xyz - x;
    float squares = dot(d, d) * dot(e, e);
    if (squares > 0.0) sum += cross(d, e) / squares;
  }
  float size = length(sum);
  normal.xyz = size > 0.0 ? sum / size : vec3(0.0);
}`;

const curvaturePass = (common, width) => `${common}${inputs}
uniform sampler2D corner_normals;
uniform float inverse_size;
layout(location = 0) out vec4 curvature; // k_max, k_min, their mean, their product; of lengths in metres

// The corner's share of the area of the triangle that edges d, e of it span.
float share(float dd, float ee, float de, float area) {
  float opposite = dd + ee - 2.0 * de, here = opposite * (ee + dd - opposite);
  float at_d = ee * (dd + opposite - ee), at_e = dd * (opposite + ee - dd);
  if (here <= 0.0) return area - area * dd / (4.0 * (dd - de)) - area * ee / (4.0 * (ee - de));
  if (at_d <= 0.0) return area * dd / (4.0 * de);
  if (at_e <= 0.0) return area * ee / (4.0 * de);
  return area * (at_d + at_e) / (2.0 * (here + at_d + at_e));
}

void main() {
  int i = int(gl_FragCoord.y) * ${width} + int(gl_FragCoord.x);
  curvature = vec4(0.0);
  if (i >= points) return;
  ivec4 b = texelFetch(info, at(2 * i + 1), 0);
  vec3 x = texelFetch(positions, at(i), 0).xyz, n = texelFetch(corner_normals, at(i), 0).xyz;
  if (dot(n, n) == 0.0) return;
  float side = n.z < 0.0 ? -1.0 : 1.0, turn = -1.0 / (side + n.z);
  vec3 p = vec3(1.0 + side * n.x * n.x * turn, side * n.x * n.y * turn, -side * n.x);
  vec3 q = vec3(n.x * n.y * turn, side + n.y * n.y * turn, -n.y);
  vec3 sum = vec3(0.0); // the tensor's components pp, pq, qq
  float weight = 0.0;
  for (int k = 0; k < b.z; k++) {
    ivec2 c = texelFetch(corners, at(b.y + k), 0).xy;
    vec3 d = texelFetch(positions, at(b.w + c.x), 0).xyz - x, e = texelFetch(positions, at(b.w + c.y), 0).xyz - x;
    float dd = dot(d, d), ee = dot(e, e), de = dot(d, e);
    vec3 face = cross(d, e);
    float doubled = length(face);
    if (!(doubled > 1e-6 * (dd + ee - de))) continue;
    face /= doubled;
    float cosine = dot(face, n);
    if (!(1.0 + cosine > 1e-6)) continue;
    // least squares over the three edges, in the triangle's plane
    vec3 f = d / sqrt(dd), g = cross(face, f);
    vec3 nd = texelFetch(corner_normals, at(b.w + c.x), 0).xyz, ne = texelFetch(corner_normals, at(b.w + c.y), 0).xyz;
    vec3 edges[3] = vec3[3](d, e - d, -e), changes[3] = vec3[3](nd - n, ne - nd, n - ne);
    float uu = 0.0, uv = 0.0, vv = 0.0;
    vec3 right = vec3(0.0), s;
    for (int j = 0; j < 3; j++) {
      float u = dot(edges[j], f), v = dot(edges[j], g), du = dot(changes[j], f), dv = dot(changes[j], g);
      uu += u * u, uv += u * v, vv += v * v;
      right += vec3(u * du, v * du + u * dv, v * dv);
    }
    s.y = (right.y - uv / uu * right.x - uv / vv * right.z) / (uu + vv - uv * uv / uu - uv * uv / vv);
    s.x = (right.x - uv * s.y) / uu;
    s.z = (right.z - uv * s.y) / vv;
    // the least rotation of the triangle's normal to the point's
    vec3 axis = cross(face, n), along = cross(axis, f), turned = f + along + cross(axis, along) / (1.0 + cosine);
    float u = dot(turned, p), v = dot(turned, q), part = share(dd, ee, de, 0.5 * doubled);
    sum += part * vec3(s.x * u * u - 2.0 * s.y * u * v + s.z * v * v, (s.x - s.z) * u * v + s.y * (u * u - v * v),
                       s.x * v * v + 2.0 * s.y * u * v + s.z * u * u);
    weight += part;
  }
  if (!(weight > 0.0)) return;
  sum *= inverse_size / weight;
  float mean = 0.5 * (sum.x + sum.z), radius = length(vec2(0.5 * (sum.x - sum.z), sum.y));
  curvature = vec4(mean + radius, mean - radius, mean, sum.x * sum.z - sum.y * sum.y);
}`;

export const curvaturePasses = (common, width) => [cornerNormalPass(common, width), curvaturePass(common, width)];

// The range that a map around zero shows: the farther of the quantiles 2 % and 98 % of every fourth number from `first` on,
// of at most 65,536 of them.
export function robustRange(values, first) {
  const step = 4 * Math.max(1, Math.ceil(values.length / 4 / 65536));
  const some = new Float32Array(Math.ceil((values.length - first) / step));
  for (let i = first, k = 0; i < values.length; i += step) some[k++] = values[i];
  some.sort();
  const at = (share) => Math.abs(some[Math.floor(share * (some.length - 1))]);
  return Math.max(at(0.02), at(0.98));
}
