// SPDX-License-Identifier: Apache-2.0
//
// A steel tuning fork, A4 (440 Hz), for linear tetrahedra. Metres.
//   gmsh -3 tuning_fork.geo -setnumber refine 1 -o tuning_fork.msh
// See README.md for the drawing, the frequencies and the refinement table.
//
// The profile lies in the plane z = 0, prongs along +y, and is extruded by `depth`.
// Every part is structured, so the nodes are symmetric about x = 0 and refinements are comparable.

DefineConstant[
  refine = {1, Name "Mesh/refine: all cell counts times this"}
  length = {0.1520, Name "Fork/straight length of a prong"}
  thickness = {0.0165, Name "Fork/thickness of a prong, in the plane"}
  gap = {0.0170, Name "Fork/gap between the prongs"}
  depth = {0.0120, Name "Fork/depth, normal to the plane"}
  stem_width = {0.0130, Name "Fork/width of the stem"}
  stem_length = {0.0600, Name "Fork/length of the stem, from the fillet on"}
  fillet = {0.0090, Name "Fork/fillet between bend and stem"}
];

r = gap / 2;
R = r + thickness;
w = stem_width / 2;

// The fillet's circle touches the outside of the bend in T and the side of the stem in S.
y_fillet = -Sqrt((R + fillet)^2 - (w + fillet)^2);
tx = R / (R + fillet) * (w + fillet);
ty = R / (R + fillet) * y_fillet;
// A cut from T to the mirror line, at 45 degrees to the boundary, parts the yoke in two quadrangles.
y_cut = ty + tx * Tan(Pi / 4 - Atan2(tx, -ty));

n_thick = Round(13 * refine);
n_long = Round(72 * refine);
n_bend = Round(10 * refine);
n_half = Round(8 * refine);
n_fillet = Round(7 * refine);
n_stem = Round(10 * refine);
n_depth = Round(2 * refine);
grow = 1.02 ^ (1 / refine);           // towards the tips, where little bends

Mesh.MshFileVersion = 4.1;
Mesh.Binary = 1;

Point(1) = {0, 0, 0};                     // centre of the bend
Point(2) = {0, -r, 0};
Point(3) = {0, y_fillet, 0};
Point(4) = {0, y_fillet - stem_length, 0};
Point(5) = {0, y_cut, 0};
Line(1) = {2, 5};                         // the mirror line: in the bend,
Line(2) = {5, 3};                         // in the flare,
Line(3) = {3, 4};                         // in the stem
Transfinite Curve {1} = n_thick + 1;
Transfinite Curve {2} = n_fillet + 1;
Transfinite Curve {3} = n_stem + 1;

For side In {0 : 1}
  s = 1 - 2 * side;                       // +1: right, -1: left
  p = 10 + 20 * side;
  Point(p + 0) = {s * r, length, 0};
  Point(p + 1) = {s * R, length, 0};
  Point(p + 2) = {s * r, 0, 0};
  Point(p + 3) = {s * R, 0, 0};
  Point(p + 4) = {s * r * tx / R, r * ty / R, 0};
  Point(p + 5) = {s * tx, ty, 0};
  Point(p + 6) = {s * (w + fillet), y_fillet, 0};
  Point(p + 7) = {s * w, y_fillet, 0};
  Point(p + 8) = {s * w, y_fillet - stem_length, 0};

  Line(p + 0) = {p + 0, p + 1};           // tip
  Line(p + 1) = {p + 2, p + 0};           // inner side of the prong, root to tip
  Line(p + 2) = {p + 3, p + 1};           // outer side
  Line(p + 3) = {p + 2, p + 3};           // root
  Circle(p + 4) = {p + 2, 1, p + 4};      // inner bend
  Circle(p + 5) = {p + 3, 1, p + 5};      // outer bend
  Line(p + 6) = {p + 4, p + 5};           // bend to yoke
  Circle(p + 7) = {p + 4, 1, 2};          // inner arc of the yoke
  Circle(p + 8) = {p + 5, p + 6, p + 7};  // fillet
  Line(p + 9) = {3, p + 7};               // yoke to stem
  Line(p + 10) = {p + 7, p + 8};          // side of the stem
  Line(p + 11) = {4, p + 8};              // end of the stem
  Line(p + 12) = {5, p + 5};              // the cut of the yoke
  Transfinite Curve {p + 0, p + 3, p + 6} = n_thick + 1;
  Transfinite Curve {p + 1, p + 2} = n_long + 1 Using Progression grow;
  Transfinite Curve {p + 4, p + 5} = n_bend + 1;
  Transfinite Curve {p + 8} = n_fillet + 1;
  Transfinite Curve {p + 7, p + 9, p + 11, p + 12} = n_half + 1;
  Transfinite Curve {p + 10} = n_stem + 1;

  Curve Loop(p + 0) = {p + 3, p + 2, -(p + 0), -(p + 1)};
  Curve Loop(p + 1) = {p + 4, p + 6, -(p + 5), -(p + 3)};
  Curve Loop(p + 2) = {p + 7, 1, p + 12, -(p + 6)};
  Curve Loop(p + 3) = {p + 12, p + 8, -(p + 9), -2};
  Curve Loop(p + 4) = {p + 9, p + 10, -(p + 11), -3};
  For k In {0 : 4}
    Plane Surface(p + k) = {p + k};
    Transfinite Surface {p + k} AlternateLeft;
  EndFor
EndFor

volumes[] = {};
stem_end[] = {};
For side In {0 : 1}
  p = 10 + 20 * side;
  For k In {0 : 4}
    part[] = Extrude {0, 0, depth} { Surface{p + k}; Layers{n_depth}; };
    volumes[] += part[1];
    If (k == 0)
      tip~{side} = part[4];
    EndIf
    If (k == 4)
      stem_end[] += part[4];
    EndIf
  EndFor
EndFor

Physical Volume("fork") = {volumes[]};
Physical Surface("stem_end") = {stem_end[]};
Physical Surface("prong_right_tip") = {tip~{0}};
Physical Surface("prong_left_tip") = {tip~{1}};
