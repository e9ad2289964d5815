# Writes OUTPUT, a .cpp with the texts of catalog/{models,gpus,clusters,calibrations,failures}/*.json and
# catalog/measurements/*.csv and catalog/practice/steps-to-accuracy.csv.
# cmake -DCATALOG=<catalog folder> -DOUTPUT=<file> -P embed_catalog.cmake

# Appends a statement that adds `text` to `files` under `name`: compilers limit the length of a literal, so
# long texts are put together from pieces that end at line ends.
function(append_file name text)
  string(APPEND code "  files.emplace(\"${name}\", \"\");\n")
  string(LENGTH "${text}" left)
  while(left GREATER 0)
    string(SUBSTRING "${text}" 0 12000 piece)
    if(left GREATER 12000)
      string(FIND "${piece}" "\n" end REVERSE)
      if(end GREATER 0)
        string(SUBSTRING "${piece}" 0 ${end} piece)
      endif()
    endif()
    string(APPEND code "  files[\"${name}\"] += R\"orrery(${piece})orrery\";\n")
    string(LENGTH "${piece}" taken)
    string(SUBSTRING "${text}" ${taken} -1 text)
    string(LENGTH "${text}" left)
  endwhile()
  set(code "${code}" PARENT_SCOPE)
endfunction()

set(code "// Generated from catalog/ by config/catalog/embed_catalog.cmake.\n")
string(APPEND code "#include \"config/catalog/catalog.hpp\"\n#include \"config/catalog/practice.hpp\"\n\nnamespace orrery {\n\n")

file(GLOB paths RELATIVE "${CATALOG}"
  "${CATALOG}/models/*.json" "${CATALOG}/gpus/*.json" "${CATALOG}/clusters/*.json"
  "${CATALOG}/calibrations/*.json" "${CATALOG}/failures/*.json")
list(SORT paths)
string(APPEND code "CatalogFiles embedded_catalog_files() {\n  CatalogFiles files;\n")
foreach(path IN LISTS paths)
  file(READ "${CATALOG}/${path}" text)
  append_file("${path}" "${text}")
endforeach()
string(APPEND code "  return files;\n}\n\n")

file(GLOB paths "${CATALOG}/measurements/*.csv")
list(SORT paths)
string(APPEND code "CatalogFiles embedded_measurements() {\n  CatalogFiles files;\n")
foreach(path IN LISTS paths)
  file(READ "${path}" text)
  get_filename_component(name "${path}" NAME_WLE)
  append_file("${name}" "${text}")
endforeach()
string(APPEND code "  return files;\n}\n\n")

file(READ "${CATALOG}/practice/steps-to-accuracy.csv" text)
string(APPEND code "CatalogFiles embedded_practice() {\n  CatalogFiles files;\n")
append_file("steps-to-accuracy" "${text}")
string(APPEND code "  return files;\n}\n\n}  // namespace orrery\n")
file(WRITE "${OUTPUT}" "${code}")
