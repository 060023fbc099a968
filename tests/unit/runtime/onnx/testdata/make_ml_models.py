#!/usr/bin/env python3
"""Makes ml_cases.bin: models of ai.onnx.ml with inputs, and what ONNX Runtime answers for them; laid out as in make_models.py.

Needed only to change it:  python3 -m venv v && v/bin/pip install scikit-learn==1.5.2 skl2onnx==1.18.0 onnxruntime==1.32.0 onnx==1.17.0 "numpy<2.3" "protobuf<5"
                           v/bin/python make_ml_models.py

Models of scikit-learn are trained on few rows, so that the file stays small; single nodes have attributes that no exporter of it writes. Outputs that are
strings or maps are left out of what is expected: probabilities stand in for maps, and nothing for strings.
"""
import os

import numpy as np
import onnxruntime as ort
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType, Int64TensorType
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from make_models import DTYPES, HERE, Cases

rng = np.random.default_rng(11)
X, Y = load_iris(return_X_y=True)
X, Y = X[::6].astype(np.float32), Y[::6]
TWO = Y < 2
NAMES = np.array(["setosa", "versicolor", "virginica"])
ROWS = X[rng.permutation(len(X))[:10]] + rng.standard_normal((10, 4)).astype(np.float32) * 0.3


def model_without_words(model):
    """Exporters write much that no reader looks at."""
    short = type(model).FromString(model.SerializeToString())
    short.ClearField("doc_string")
    short.graph.name = "g"
    for each in short.graph.node:
        kept = [a for a in each.attribute if not a.name.startswith("nodes_hitrates")]
        del each.attribute[:]
        each.attribute.extend(kept)
    return short


class MlCases(Cases):
    def add(self, name, model, feeds):
        assert name not in self.names, name
        self.names.add(name)
        options = ort.SessionOptions()
        options.log_severity_level = 3
        data = model.SerializeToString()
        try:
            session = ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise SystemExit(f"{name}: {str(error)[-300:]}") from error
        results = []
        for result in session.run(None, feeds):
            if isinstance(result, list):
                result = np.array([list(row.values()) for row in result], np.float32)
            if result.dtype.name in DTYPES:
                results.append(result)
        assert results, name
        self.text(name.encode())
        self.text(model_without_words(model).SerializeToString())
        self.tensors([feeds[i.name] for i in session.get_inputs()])
        self.tensors(results)


def learned(cases, name, model, y=None, x=X, rows=ROWS, kind=FloatTensorType, **options):
    model.fit(x, Y if y is None else y)
    onnx = to_onnx(model, initial_types=[("x", kind([None, x.shape[1]]))], target_opset={"": 17, "ai.onnx.ml": 3},
                   options={id(model): options} if options else None)
    cases.add(name, onnx, {"x": rows})


def scikit_learn(c):
    learned(c, "forest classifier", RandomForestClassifier(9, max_depth=2, random_state=0), zipmap=False)
    learned(c, "forest classifier zipmap", RandomForestClassifier(3, max_depth=2, random_state=1))
    learned(c, "forest classifier strings", RandomForestClassifier(3, max_depth=2, random_state=2), NAMES[Y])
    learned(c, "forest classifier two", RandomForestClassifier(5, max_depth=2, random_state=0), Y[TWO], X[TWO])
    learned(c, "forest regressor", RandomForestRegressor(9, max_depth=2, random_state=0), X[:, 3])
    learned(c, "tree classifier", DecisionTreeClassifier(random_state=0))
    learned(c, "tree regressor", DecisionTreeRegressor(max_depth=6, random_state=0), X[:, 2])
    learned(c, "tree of integers", DecisionTreeClassifier(max_depth=3, random_state=0), x=(X * 10).astype(np.int64), kind=Int64TensorType,
            rows=(ROWS * 10).astype(np.int64))
    learned(c, "boosting classifier", GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=0))
    learned(c, "boosting classifier two", GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=0), Y[TWO], X[TWO])
    learned(c, "boosting regressor", GradientBoostingRegressor(n_estimators=5, max_depth=2, random_state=0), X[:, 3])
    learned(c, "logistic", LogisticRegression(max_iter=500))
    learned(c, "logistic two", LogisticRegression(max_iter=500), Y[TWO], X[TWO])
    learned(c, "logistic strings", LogisticRegression(max_iter=500), NAMES[Y])
    learned(c, "linear", LinearRegression(), X[:, 3])
    learned(c, "svc sigmoid two", SVC(kernel="sigmoid", C=0.1), Y[TWO], X[TWO])
    learned(c, "svc probability", SVC(probability=True, C=0.1, random_state=0))
    learned(c, "linear svc", LinearSVC(dual=True))
    learned(c, "svr", SVR(C=0.2), X[:, 3])
    learned(c, "scaler logistic", make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)))
    learned(c, "min max tree", make_pipeline(MinMaxScaler(), DecisionTreeRegressor(max_depth=3, random_state=0)), X[:, 1])
    holes = X.copy()
    holes[rng.random(X.shape) < 0.2] = np.nan
    learned(c, "imputer", SimpleImputer(), x=holes, rows=holes[:9])
    whole = np.round(X[:, :3]).astype(np.int64)
    learned(c, "one hot", OneHotEncoder(sparse_output=False, handle_unknown="ignore"), x=whole, rows=whole[:8] + (rng.random((8, 3)) < 0.2).astype(np.int64) * 20,
            kind=Int64TensorType)


KINDS = {np.dtype("float32"): T.FLOAT, np.dtype("float64"): T.DOUBLE, np.dtype("int64"): T.INT64, np.dtype("int32"): T.INT32}


def node(c, name, op, feeds, outputs, ml=3, **attributes):
    """outputs: element types; those of strings are read by a LabelEncoder, whose numbers are the output."""
    nodes, outs = [h.make_node(op, list(feeds), [f"y{i}" for i in range(len(outputs))], name="n", domain="ai.onnx.ml", **attributes)], []
    for i, kind in enumerate(outputs):
        if kind == T.STRING:
            texts = ["a", "b", "c", "d", "_Unused", "none"]
            nodes.append(h.make_node("LabelEncoder", [f"y{i}"], [f"n{i}"], domain="ai.onnx.ml", keys_strings=texts, values_int64s=list(range(10, 16)))
                         if ml > 1 else h.make_node("LabelEncoder", [f"y{i}"], [f"n{i}"], domain="ai.onnx.ml", classes_strings=texts))
            outs.append(h.make_tensor_value_info(f"n{i}", T.INT64, None))
        else:
            outs.append(h.make_tensor_value_info(f"y{i}", kind, None))
    ins = [h.make_tensor_value_info(k, KINDS[v.dtype], [None if i == 0 else s for i, s in enumerate(v.shape)]) for k, v in feeds.items()]
    model = h.make_model(h.make_graph(nodes, "g", ins, outs), opset_imports=[h.make_opsetid("", 17), h.make_opsetid("ai.onnx.ml", ml)], ir_version=8)
    c.add(name, model, feeds)


def tree(rows, kind="class", tree_id=0, numbers=None):
    """rows: (mode, feature, value, true, false, missing, {target: weight}). Attributes of one tree."""
    ids = numbers or list(range(len(rows)))
    a = {"nodes_treeids": [tree_id] * len(rows), "nodes_nodeids": ids, "nodes_modes": [r[0] for r in rows], "nodes_featureids": [r[1] for r in rows],
         "nodes_values": [float(r[2]) for r in rows], "nodes_truenodeids": [ids[r[3]] for r in rows], "nodes_falsenodeids": [ids[r[4]] for r in rows],
         "nodes_missing_value_tracks_true": [r[5] for r in rows], "nodes_hitrates": [1.0] * len(rows)}
    weights = [(ids[i], t, w) for i, r in enumerate(rows) for t, w in r[6].items()]
    a |= {f"{kind}_treeids": [tree_id] * len(weights), f"{kind}_nodeids": [w[0] for w in weights], f"{kind}_ids": [w[1] for w in weights],
          f"{kind}_weights": [float(w[2]) for w in weights]}
    return a


def both(*trees):
    return {k: sum((t[k] for t in trees), []) for k in trees[0]}


def leaf(**weights):
    return ("LEAF", 0, 0, 0, 0, 0, {int(k[1:]): v for k, v in weights.items()})


def stump(mode, value, missing, on_true, on_false, **more):
    return tree([(mode, 0, value, 1, 2, missing, {}), on_true, on_false], **more)


def trees(c):
    edge = np.array([[-1, 0], [0, 1], [0.5, -3], [np.nan, 0.25], [1, np.nan], [2, 7], [np.inf, 0], [-np.inf, 1], [0.25, 9]], np.float32)
    for mode in ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]:
        for missing in [0, 1] if mode == "BRANCH_LEQ" else [1]:
            a = stump(mode, 0.5, missing, leaf(t0=1.5), leaf(t0=-2.25), kind="target")
            node(c, f"{mode} missing {missing}", "TreeEnsembleRegressor", {"x": edge}, [T.FLOAT], n_targets=1, **a)
    mixed = both(stump("BRANCH_LT", 0.5, 1, leaf(t0=0.5, t1=1), leaf(t1=-2), kind="target"),
                 tree([("BRANCH_GTE", 1, 0, 1, 2, 0, {}), leaf(t0=3), ("BRANCH_LEQ", 0, 1, 3, 4, 1, {}), leaf(t0=-1, t1=4), leaf(t1=0.25)], "target", 7,
                      [4, 6, 3, 7, 1]))
    for aggregate in ["SUM", "AVERAGE", "MIN", "MAX"]:
        for transform in ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"] if aggregate == "SUM" else ["NONE"]:
            node(c, f"{aggregate} {transform}", "TreeEnsembleRegressor", {"x": edge}, [T.FLOAT], n_targets=2, aggregate_function=aggregate,
                 post_transform=transform, **mixed)
        node(c, f"{aggregate} base", "TreeEnsembleRegressor", {"x": edge}, [T.FLOAT], n_targets=2, aggregate_function=aggregate, base_values=[0.5, -1.0],
             **mixed)
        one = both(*[stump("BRANCH_LEQ", v, 0, leaf(t0=v + 1), leaf(t0=1 - v), kind="target", tree_id=i) for i, v in enumerate([0, 0.5, 1])])
        node(c, f"{aggregate} one base", "TreeEnsembleRegressor", {"x": edge}, [T.FLOAT], n_targets=1, aggregate_function=aggregate, base_values=[0.25],
             **one)
    node(c, "probit", "TreeEnsembleRegressor", {"x": edge}, [T.FLOAT], n_targets=1, post_transform="PROBIT",
         **stump("BRANCH_LEQ", 0.5, 0, leaf(t0=0.2), leaf(t0=0.9), kind="target"))
    wide = mixed | {"nodes_values_as_tensor": nh.from_array(np.array(mixed["nodes_values"]) + 1e-12),
                    "target_weights_as_tensor": nh.from_array(np.array(mixed["target_weights"]) / 3), "base_values_as_tensor": nh.from_array(np.array([0.1, 0.2]))}
    for k in ["nodes_values", "target_weights", "nodes_hitrates"]:
        wide.pop(k)
    node(c, "double tensors", "TreeEnsembleRegressor", {"x": edge.astype(np.float64)}, [T.FLOAT], n_targets=2, **wide)
    classes = both(stump("BRANCH_LEQ", 0.5, 0, leaf(t0=0.5, t1=0.25), leaf(t2=0.75)), stump("BRANCH_LEQ", 0, 1, leaf(t1=0.5), leaf(t0=0.25, t2=0.125), tree_id=1))
    for transform in ["NONE", "LOGISTIC", "SOFTMAX"]:
        node(c, f"three classes {transform}", "TreeEnsembleClassifier", {"x": edge}, [T.INT64, T.FLOAT], classlabels_int64s=[5, 3, 9], post_transform=transform,
             **classes)
        for positive in [False, True]:
            for target in [0, 1]:
                one = both(*[stump("BRANCH_LEQ", v, 0, leaf(**{f"t{target}": v + 0.125}), leaf(**{f"t{target}": 0.25 if positive else -0.5}), tree_id=i)
                             for i, v in enumerate([0, 0.5])])
                for base in [None, [0.125], [0.0625, -0.25]] if transform == "LOGISTIC" else [None]:
                    more = {} if base is None else {"base_values": base}
                    node(c, f"two classes {transform} {positive} {target} {base}", "TreeEnsembleClassifier", {"x": edge}, [T.INT64, T.FLOAT],
                         classlabels_int64s=[4, 8], post_transform=transform, **more, **one)
    node(c, "three classes base", "TreeEnsembleClassifier", {"x": edge}, [T.INT64, T.FLOAT], classlabels_int64s=[5, 3, 9], base_values=[0.5, 0.25, 0.125],
         **classes)
    node(c, "three classes strings", "TreeEnsembleClassifier", {"x": edge}, [T.STRING, T.FLOAT], classlabels_strings=["b", "d", "a"], **classes)


def others(c):
    x = rng.standard_normal((5, 3)).astype(np.float32)
    k = rng.standard_normal(6).round(3).tolist()
    for transform in ["NONE", "LOGISTIC", "SOFTMAX"]:
        node(c, f"linear classifier {transform}", "LinearClassifier", {"x": x}, [T.INT64, T.FLOAT], classlabels_ints=[7, 2], coefficients=k,
             intercepts=[0.1, -0.2], post_transform=transform)
        node(c, f"linear classifier one score {transform}", "LinearClassifier", {"x": x}, [T.INT64, T.FLOAT], classlabels_ints=[7, 2],
             coefficients=k[:3], intercepts=[0.1], post_transform=transform)
        node(c, f"linear regressor {transform}", "LinearRegressor", {"x": x}, [T.FLOAT], targets=2, coefficients=k, intercepts=[0.1, -0.2],
             post_transform=transform)
        node(c, f"linear regressor one {transform}", "LinearRegressor", {"x": x}, [T.FLOAT], coefficients=k[:3], intercepts=[0.4],
             post_transform=transform)
    node(c, "linear classifier strings", "LinearClassifier", {"x": x.astype(np.float64)}, [T.STRING, T.FLOAT], classlabels_strings=["c", "a"], coefficients=k,
         intercepts=[0.1, -0.2])
    node(c, "scaler", "Scaler", {"x": x}, [T.FLOAT], offset=[0.5, 1.0, -2.0], scale=[2.0, 0.25, 3.0])
    node(c, "scaler one", "Scaler", {"x": (x * 9).astype(np.int64)}, [T.FLOAT], offset=[0.5], scale=[2.0])
    for norm in ["MAX", "L1", "L2"]:
        node(c, f"norm {norm}", "Normalizer", {"x": np.array([[1, -2, 3], [0, 0, 0], [-4, -5, -6], [0.5, 0, 0]], np.float32)}, [T.FLOAT], norm=norm)
    node(c, "binarizer f32", "Binarizer", {"x": x}, [T.FLOAT], threshold=0.25)
    node(c, "imputer f32", "Imputer", {"x": np.array([[1, np.nan, 3], [np.nan, 2, np.nan]], np.float32)}, [T.FLOAT], imputed_value_floats=[7.0, 8.0, 9.0],
         replaced_value_float=float("nan"))
    node(c, "imputer i64", "Imputer", {"x": np.array([[1, 0, 3], [0, 2, 0]], np.int64)}, [T.INT64], imputed_value_int64s=[5], replaced_value_int64=0)
    node(c, "feature vectorizer", "FeatureVectorizer", {"x": x, "z": x[:, :2] * 2}, [T.FLOAT], inputdimensions=[3, 2])
    node(c, "one hot i64", "OneHotEncoder", {"x": np.array([1, 5, 3, 9], np.int64)}, [T.FLOAT], cats_int64s=[5, 1, 3])
    node(c, "one hot f32", "OneHotEncoder", {"x": np.array([[1, 5], [3, 9]], np.float32)}, [T.FLOAT], cats_int64s=[5, 1, 3], zeros=1)
    node(c, "extractor", "ArrayFeatureExtractor", {"x": x, "y": np.array([2, 0, 2], np.int64)}, [T.FLOAT])
    node(c, "extractor row", "ArrayFeatureExtractor", {"x": x[0], "y": np.array([[1, 2]], np.int64)}, [T.FLOAT])
    whole = np.array([[3, 1, -7], [1, 0, 3]], np.int64)
    node(c, "labels i64 i64", "LabelEncoder", {"x": whole}, [T.INT64], ml=2, keys_int64s=[3, 1, -7, 3], values_int64s=[30, 10, 70, 99])
    node(c, "labels i64 f32", "LabelEncoder", {"x": whole}, [T.FLOAT], ml=2, keys_int64s=[3, 1], values_floats=[0.5, 1.5], default_float=-4.0)
    node(c, "labels f32 f32", "LabelEncoder", {"x": np.array([1, 4, 2.5, 7], np.float32)}, [T.FLOAT], ml=2, keys_floats=[2.5, 4.0, 1],
         values_floats=[5.0, 6.0, 7.0])
    node(c, "labels i64 string", "LabelEncoder", {"x": whole}, [T.STRING], ml=2, keys_int64s=[3, 1, 0], values_strings=["c", "a", "d"])
    node(c, "labels i64 string default", "LabelEncoder", {"x": whole}, [T.STRING], ml=2, keys_int64s=[3], values_strings=["c"], default_string="none")
    node(c, "labels 1", "LabelEncoder", {"x": np.array([0, 3, 2, 9], np.int64)}, [T.STRING], ml=1, classes_strings=["d", "b", "c", "a"])
    node(c, "labels tensors", "LabelEncoder", {"x": np.array([1, 2, 4], np.float64)}, [T.DOUBLE], ml=4,
         keys_tensor=nh.from_array(np.array([4.0, 1.0])), values_tensor=nh.from_array(np.array([0.25, 0.75])), default_tensor=nh.from_array(np.array([9.0])))
    node(c, "categories", "CategoryMapper", {"x": whole}, [T.STRING], cats_int64s=[3, 1, 0], cats_strings=["c", "a", "d"])
    support = rng.standard_normal(12).round(3).tolist()
    for kernel in ["LINEAR", "POLY", "RBF", "SIGMOID"]:
        for transform in ["NONE", "LOGISTIC", "SOFTMAX"] if kernel == "RBF" else ["NONE"]:
            node(c, f"svm {kernel} {transform}", "SVMClassifier", {"x": x}, [T.INT64, T.FLOAT], classlabels_ints=[2, 5], kernel_type=kernel,
                 kernel_params=[0.5, 0.25, 2.0], coefficients=[0.5, -0.25, 0.75, -1.0], rho=[0.1], support_vectors=support, vectors_per_class=[1, 3],
                 post_transform=transform)
        node(c, f"svm regressor {kernel}", "SVMRegressor", {"x": x}, [T.FLOAT], kernel_type=kernel, kernel_params=[0.5, 0.25, 3.0],
             coefficients=[0.5, -0.25, 0.75, -1.0], rho=[0.1], support_vectors=support, n_supports=4)
    for n in [2, 3]:
        node(c, f"svm linear {n}", "SVMClassifier", {"x": x}, [T.INT64, T.FLOAT], classlabels_ints=[2, 5, 4][:n], kernel_type="LINEAR", kernel_params=[0.5, 0.0, 3.0],
             coefficients=rng.standard_normal(3 * n).round(3).tolist(), rho=[0.1])


if __name__ == "__main__":
    cases = MlCases(os.path.join(HERE, "ml_cases.bin"))
    scikit_learn(cases)
    trees(cases)
    others(cases)
    cases.save()
